/** GET /docs, black box: no credentials needed, and its commands work as printed. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { ensureConsole } from '../../console/support/build.ts'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { insertDropped } from '../../webhooks/support.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'docs-'))
let gateway: TestGateway

before(async () => {
  await ensureConsole()
  gateway = await startTestGateway({
    DATA_DIR: dataDir,
    PUBLIC_URL: 'http://gateway.test',
    ALLOW_PRIVATE_TARGETS: 'true',
  })
})
after(async () => {
  await gateway.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
}

/** Returns the commands on the page, as a reader would copy them. */
async function readCommands(): Promise<string[]> {
  const contents = await (await fetch(`${gateway.url}/docs`)).text()
  const paths = new Set(
    [...contents.matchAll(/href="(\/docs\/[^"#]+)"/g)].map(({ 1: path }) => path),
  )
  const pages = await Promise.all(
    [...paths].map(async (path) => (await fetch(gateway.url + path)).text()),
  )
  return [...(contents + pages.join('')).matchAll(/<code>(curl [^<]*)<\/code>/g)].map(
    ({ 1: code = '' }) =>
      code.replace(/&(?:lt|gt|quot|amp|#39);/g, (entity) => ENTITIES[entity] ?? entity),
  )
}

test('what counts tokens is shown with a chat model', async () => {
  const commands = await readCommands()
  for (const path of ['/messages/count_tokens', '/responses/input_tokens']) {
    const command = commands.find((one) => one.includes(path)) ?? ''
    const [, model] = /"model": "([^"]+)"/.exec(command) ?? []
    const list = await gateway.fetch('/v1/models?type=chat', await gateway.tenant())
    const { data } = (await list.json()) as { data: { id: string }[] }
    assert.ok(
      data.some(({ id }) => id === model),
      command,
    )
  }
})

test('200: pages with a policy that forbids other scripts', async () => {
  const answer = await fetch(`${gateway.url}/docs/text`)
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.match(answer.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
  assert.match(await answer.text(), /<h3><a href="#postChatCompletions">/)
})

test('every command on the page is answered with 200', async () => {
  const { key, accountId } = await gateway.tenant()
  const called = await gateway.post('/v1/search', key, { Type: 'web', Query: 'rivers' })
  const kept = await gateway.post('/v1/responses', key, { model: 'sim-chat', input: 'rivers' })
  const order = { model: 'sim-chat', input: 'rivers', background: true }
  const begun = await gateway.post('/v1/responses', key, order)
  const requestId = called.headers.get('x-request-id') ?? ''
  const form = new FormData()
  form.append('file', new Blob(['words']), 'meeting.mp3')
  const upload = async () =>
    JSON.parse(await (await gateway.fetch('/v1/files', { method: 'POST', key, body: form })).text())
  const shown = await upload()
  const receiver = 'http://127.0.0.1:1/'
  const tried = await gateway.post('/v1/webhooks/test', key, { url: receiver })
  const dropped = await insertDropped(gateway.sql, accountId, receiver)
  // What names a task or what it made needs one, and the console needs a session: see their tests.
  const named = /[/"](?:task_|cgt-|asset_|media\/|admin\/)|@speech\.wav/
  const commands = (await readCommands()).filter((one) => !named.test(one))
  assert.ok(commands.length >= 10, `${commands.length} commands`)
  for (const printed of commands) {
    const command = printed
      .replace('http://gateway.test', gateway.url)
      .replace(/req_\w{22}/, requestId)
      .replace(/whd_\w{22}/, printed.includes('/redeliver') ? dropped : tried.json.id)
      .replace('https://example.com/hooks/tributary', receiver)
      .replace('resp_9Wd3', (printed.includes('/cancel') ? begun : kept).json.id)
      .replace('/files/0J8s/meeting.mp3', new URL(shown.url).pathname)
      .replace('@meeting.mp3', `@${import.meta.filename}`)
      .replace(/file_\w{22}/, printed.includes('DELETE') ? (await upload()).id : shown.id)
      .replace(/^curl /, `curl -s -w '%{http_code}' `)
    const { stdout } = await promisify(execFile)('sh', ['-c', command], {
      env: { ...process.env, KEY: key },
      maxBuffer: 16 * 1024 ** 2,
    })
    assert.ok(stdout.endsWith('200'), `${command}\n${stdout}`)
    if (command.includes('/speech/')) assert.match(stdout, /"code":20000000\b/)
  }
})

test('guides are pages beside the reference, and their assets never change', async () => {
  for (const path of [
    '/docs/guides',
    '/docs/guides/operate',
    '/docs/compared',
    '/docs/changelog',
  ]) {
    const answer = await fetch(gateway.url + path)
    assert.equal(answer.status, 200, path)
    assert.match(answer.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
    assert.match(
      await answer.text(),
      /aria-current="true">Guides[\s\S]*<article class="article"><h1>/,
    )
  }
  const page = await (await fetch(`${gateway.url}/docs`)).text()
  const [, sections = '', engine = ''] =
    /data-sections="([^"]+)" data-engine="([^"]+)"/.exec(page) ?? []
  for (const path of [sections, engine]) {
    for (const encoding of ['br', 'gzip', 'identity']) {
      const headers = { 'accept-encoding': encoding }
      const answer = await fetch(gateway.url + path, { headers })
      assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable')
      const text = await answer.text()
      assert.ok(text.includes(path === engine ? 'class MiniSearch' : 'Tributary'), path)
    }
  }
  for (const path of ['/docs/guides/nope', '/docs/assets/nope.js', '/docs/guides/..%2Fsite.json']) {
    assert.equal((await fetch(gateway.url + path)).status, 404, path)
  }
})

test('404 for a page that does not exist; llms.txt links to each call', async () => {
  assert.equal((await fetch(`${gateway.url}/docs/nope`)).status, 404)
  const answer = await fetch(`${gateway.url}/llms.txt`)
  assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8')
  const text = await answer.text()
  assert.match(text, /^# Tributary\n\n> /)
  assert.match(text, /\[POST \/v1\/chat\/completions\]\(http:.*\/docs\/text#postChatCompletions\)/)
  assert.ok(Buffer.byteLength(text) < 150_000)
})

test('405 for other methods', async () => {
  const answer = await fetch(`${gateway.url}/docs`, { method: 'POST' })
  assert.equal(answer.status, 405)
})
