import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { z } from 'zod'
import type { Endpoint } from '../../../server/api/endpoints/endpoint.ts'
import { describeEndpoint } from '../../../server/api/endpoints/reference/operation.ts'
import { curlCommand } from '../../../server/api/endpoints/reference/page/code.ts'
import { PAGE_HEADERS } from '../../../server/api/endpoints/reference/page/frame.ts'
import {
  listReferencePages,
  pathOf,
  renderPage,
} from '../../../server/api/endpoints/reference/page/page.ts'
import {
  javaScriptCode,
  pythonCode,
} from '../../../server/api/endpoints/reference/page/snippets.ts'
import { signedHeaders } from '../../../server/work/webhooks/sign.ts'
import { describeAll, MODEL, PUBLIC_URL } from './support.ts'

const operations = describeAll()
const pages = listReferencePages(operations)
const texts = new Map(pages.map((page) => [page, renderPage(pages, page, PUBLIC_URL)]))
const idsOf = (text: string) =>
  new Set([...text.matchAll(/ id="([^"]+)"/g)].map(({ 1: id = '' }) => id))

/** Returns the arguments that a shell passes to curl. */
function argumentsOf(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\nKEY=tr-test\n${command}`
  const { stdout, status } = spawnSync('sh', ['-c', script], { encoding: 'utf8' })
  assert.equal(status, 0, command)
  return stdout.split('\0').slice(0, -1)
}

describe('the reference page', () => {
  test('has a section for every endpoint, and no dead internal link', () => {
    const byPath = new Map([...texts].map(([page, text]) => [pathOf(page), idsOf(text)]))
    const all = [...byPath.values()].flatMap((ids) => [...ids])
    for (const { id, answer, answersNothing } of operations) {
      assert.equal(all.includes(id), answer !== undefined || answersNothing, id)
    }
    for (const [page, text] of texts) {
      for (const { 1: path = '', 2: id = '' } of text.matchAll(/href="(\/docs[^"#]*)?#([^"]+)"/g)) {
        assert.ok(byPath.get(path || pathOf(page))?.has(id), `${pathOf(page)}: ${path}#${id}`)
      }
    }
  })

  test('begins with SDKs at this address, and verifies a webhook', async () => {
    const [contents] = pages
    assert.ok(contents)
    const text = texts.get(contents) ?? ''
    assert.ok(text.indexOf('id="sdk"') < text.indexOf('id="start"'))
    const codeOf = (label: string) => {
      const [, figure = ''] = text.split(`<figcaption>${label}</figcaption>`)
      const [, code = ''] = /<pre[^>]*>(.*?)<\/pre>/s.exec(figure) ?? []
      const plain = code.replace(/<[^>]*>/g, '')
      return plain.replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&gt;', '>')
    }
    for (const label of ['OpenAI', 'AI SDK', 'LangChain']) {
      assert.ok(codeOf(label).includes(`baseURL: '${PUBLIC_URL}/v1'`), label)
    }
    assert.ok(codeOf('Anthropic').includes(`baseURL: '${PUBLIC_URL}', apiKey`))

    const source = Buffer.from(codeOf('Node').replaceAll('&amp;', '&')).toString('base64')
    const { verifyWebhook } = await import(`data:text/javascript;base64,${source}`)
    const body = Buffer.from('{"task_id":"video_1"}')
    const now = Math.floor(Date.now() / 1_000)
    const signed = (timestamp: number, secrets = { current: 'whsec_new', previous: 'whsec_old' }) =>
      Object.fromEntries(
        Object.entries(signedHeaders(secrets, timestamp, body)).map(([name, value]) => [
          name.toLowerCase(),
          value,
        ]),
      )
    for (const secret of ['whsec_new', 'whsec_old']) {
      assert.equal(verifyWebhook(secret, signed(now), body), true)
    }
    assert.equal(verifyWebhook('whsec_other', signed(now), body), false)
    assert.equal(verifyWebhook('whsec_new', signed(now), Buffer.from('{}')), false)
    assert.equal(verifyWebhook('whsec_new', signed(now - 3_600), body), false)
    assert.equal(verifyWebhook('whsec_new', {}, body), false)
    assert.equal(
      verifyWebhook('whsec_new', { ...signed(now), 'x-service-timestamp': 'x' }, body),
      false,
    )
  })

  test('has no page over 150 KB, and three languages for each endpoint', () => {
    for (const [page, text] of texts) {
      assert.ok(Buffer.byteLength(text) < 150_000, `${page.slug}: ${Buffer.byteLength(text)}`)
      for (const language of ['curl', 'Python', 'JavaScript']) {
        const blocks = text.split(`<figure class="code" data-language="${language}"`).length - 1
        assert.equal(blocks, page.operations.length, `${page.slug} ${language}`)
      }
    }
  })

  test('shows Python and JavaScript that parse', () => {
    const python = operations.map((one) => pythonCode(one, PUBLIC_URL))
    const check = 'import ast, json, sys\nfor one in json.load(sys.stdin): ast.parse(one)'
    const { status, stderr } = spawnSync('python3', ['-c', check], {
      input: JSON.stringify(python),
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
    for (const operation of operations) {
      const code = javaScriptCode(operation, PUBLIC_URL).replaceAll(/^import .*$/gm, '')
      assert.doesNotThrow(() => new Function(`return async () => { ${code}\n }`), code)
    }
  })

  test('loads nothing, and runs its own script alone', () => {
    for (const page of texts.values()) {
      const document = page.replace(/<script type="module">[\s\S]*<\/script>/, '')
      assert.doesNotMatch(
        document,
        /<script|<link|<img|<iframe|\son\w+=|\sstyle=|\ssrc=|url\(|@import/,
      )
    }
    const policy = PAGE_HEADERS['content-security-policy'] ?? ''
    assert.match(policy, /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-/)
    assert.doesNotMatch(policy, /unsafe/)
  })

  test('escapes the texts of declarations', () => {
    const endpoint: Endpoint = {
      kind: 'plain',
      method: 'GET',
      paths: ['/<path>'],
      envelope: 'flat',
      documentation: {
        summary: '<b>"bold"</b>',
        description: 'a `<code>` & more',
        tag: "T'ag",
        answer: z.object({ '<i>': z.string().describe('</table>') }),
        example: () => ({ answer: { '<i>': '</pre>' } }),
      },
      handle: async () => undefined,
    }
    const escaped = listReferencePages([describeEndpoint(endpoint)])
    const last = escaped.at(-1)
    assert.ok(last)
    const text = renderPage(escaped, last, PUBLIC_URL)
    assert.match(text, /&lt;b&gt;&quot;bold&quot;&lt;\/b&gt;/)
    assert.match(text, /a <code>&lt;code&gt;<\/code> &amp; more/)
    assert.doesNotMatch(text, /<b>|<i>|<path>/)
    assert.equal(text.split('</pre>').length, text.split('<pre').length)
  })

  test('shows commands that a shell parses as intended', () => {
    for (const operation of operations) {
      const argumentList = argumentsOf(curlCommand(operation, PUBLIC_URL))
      const body = operation.example?.body
      assert.ok(
        argumentList.some((argument) => argument.startsWith(`${PUBLIC_URL}/`)),
        operation.id,
      )
      assert.equal(argumentList.includes('Authorization: Bearer tr-test'), operation.needsKey)
      if (body === undefined) continue
      assert.deepEqual(JSON.parse(argumentList[argumentList.indexOf('-d') + 1] ?? ''), body)
    }
  })

  test('quotes a body with quotes in it', () => {
    const [first] = operations
    assert.ok(first)
    const example = {
      body: { model: MODEL, text: `it's "so" $HOME \`x\` \\ ${'long '.repeat(20)}` },
    }
    const argumentList = argumentsOf(curlCommand({ ...first, example }, PUBLIC_URL))
    assert.deepEqual(JSON.parse(argumentList[argumentList.indexOf('-d') + 1] ?? ''), example.body)
  })
})
