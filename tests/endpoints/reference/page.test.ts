import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { z } from 'zod'
import type { Endpoint } from '../../../server/endpoints/endpoint.ts'
import { describeEndpoint } from '../../../server/endpoints/reference/operation.ts'
import { curlCommand } from '../../../server/endpoints/reference/page/code.ts'
import { PAGE_HEADERS, renderPage } from '../../../server/endpoints/reference/page/page.ts'
import { describeAll, MODEL, PUBLIC_URL } from './support.ts'

const operations = describeAll()
const page = renderPage(operations, PUBLIC_URL)

/** Returns the arguments that a shell passes to curl. */
function argumentsOf(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\nKEY=tr-test\n${command}`
  const { stdout, status } = spawnSync('sh', ['-c', script], { encoding: 'utf8' })
  assert.equal(status, 0, command)
  return stdout.split('\0').slice(0, -1)
}

describe('the reference page', () => {
  test('has a section for every endpoint, and no dead internal link', () => {
    const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(({ 1: id = '' }) => id))
    for (const { id, answer, answersNothing } of operations) {
      assert.equal(ids.has(id), answer !== undefined || answersNothing, id)
    }
    for (const { 1: id = '' } of page.matchAll(/href="#([^"]+)"/g)) assert.ok(ids.has(id), id)
  })

  test('loads nothing and runs nothing', () => {
    assert.doesNotMatch(page, /<script|<link|<img|<iframe|\son\w+=|\sstyle=|\ssrc=|url\(|@import/)
    const policy = PAGE_HEADERS['content-security-policy'] ?? ''
    assert.match(policy, /^default-src 'none'; style-src 'sha256-/)
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
    const text = renderPage([describeEndpoint(endpoint)], PUBLIC_URL)
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
