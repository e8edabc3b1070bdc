import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createConsoleEndpoints } from '../../server/api/console/serve.ts'
import type { PlainEndpoint, PlainServices } from '../../server/api/endpoints/endpoint.ts'
import { createListener } from '../../server/base/http/listener.ts'
import { createRoutes } from '../../server/base/http/router.ts'
import { testMemory } from '../support/memory.ts'
import { type LocalServer, startServer } from '../support/servers/local-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'tributary-console-'))
const page = (name: string) =>
  `<meta property="csp-nonce" nonce="CSP_NONCE"><title>${name}</title>` +
  '<script type="module" src="/console/assets/a-1.js" nonce="CSP_NONCE"></script>'
const script = `console.log(${'1+'.repeat(2_000)}1)`

let server: LocalServer
let url = ''

before(async () => {
  const endpoints = createConsoleEndpoints({ publicUrl: 'https://media.example/x', folder })
  const match = createRoutes<PlainEndpoint>(
    endpoints.flatMap((endpoint) =>
      endpoint.paths.map((path) => ({ method: endpoint.method, path, target: endpoint })),
    ),
  )
  const listener = createListener<PlainEndpoint>({
    match,
    memory: testMemory(),
    envelopeOf: () => 'flat',
    // The console reaches for none of the gateway's parts.
    run: (endpoint, context) => endpoint.handle(context, {} as unknown as PlainServices),
    onDone() {},
  })
  server = await startServer(listener)
  url = server.url
})
after(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(url + path, { headers: { 'accept-encoding': 'identity', ...headers }, redirect: 'manual' })

test('without a build the console says what to do', async () => {
  const answer = await get('/console/')
  assert.equal(answer.status, 503)
  assert.match(await answer.text(), /npm run build/)
  assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/)
})

describe('a built console', () => {
  before(() => {
    mkdirSync(join(folder, 'assets'))
    writeFileSync(join(folder, 'assets', 'a-1.js'), script)
    writeFileSync(join(folder, 'assets', 'a-1.js.gz'), gzipSync(script))
    writeFileSync(join(folder, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
    writeFileSync(join(folder, 'index.html'), page('one'))
  })

  test('is found by people at the address itself, not by programs', async () => {
    const person = await get('/', { accept: 'text/html,application/xhtml+xml' })
    assert.equal(person.status, 302)
    assert.equal(person.headers.get('location'), '/console/')
    const programme = await get('/', { accept: 'application/json' })
    assert.equal(programme.status, 404)
    assert.deepEqual(await programme.json(), {
      error: 'no such path: GET /docs lists all',
      type: 'not_found_error',
    })
  })

  test('is one page at every path of its own', async () => {
    for (const path of ['/console', '/console/', '/console/keys', '/console/operator/a/b?x=1']) {
      const answer = await get(path)
      assert.equal(answer.status, 200, path)
      assert.match(await answer.text(), /<title>one/)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
    }
  })

  test('runs scripts of this origin alone, and styles with the nonce of this answer', async () => {
    const nonces = new Set<string>()
    for (let time = 0; time < 2; time += 1) {
      const answer = await get('/console/')
      const policy = answer.headers.get('content-security-policy') ?? ''
      const nonce = /style-src 'self' 'nonce-([\w-]{22})'/.exec(policy)?.[1] ?? ''
      assert.ok((await answer.text()).includes(`nonce="${nonce}"`))
      nonces.add(nonce)
      assert.doesNotMatch(policy, /unsafe|\*|https?:(?!\/\/media\.example)/)
      for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]) {
        assert.ok(policy.split('; ').includes(part), part)
      }
      assert.match(policy, /img-src 'self' data: blob: https:\/\/media\.example;/)
      assert.equal(answer.headers.get('referrer-policy'), 'no-referrer')
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    }
    assert.equal(nonces.size, 2)
  })

  test('has files that browsers keep for ever, compressed for those that understand it', async () => {
    const plain = await get('/console/assets/a-1.js')
    assert.equal(plain.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.equal(plain.headers.get('content-type'), 'text/javascript; charset=utf-8')
    assert.equal(plain.headers.get('content-encoding'), null)
    assert.equal(await plain.text(), script)
    const gzipped = await get('/console/assets/a-1.js', { 'accept-encoding': 'br, gzip' })
    assert.equal(gzipped.headers.get('content-encoding'), 'gzip')
    assert.equal(gzipped.headers.get('vary'), 'accept-encoding')
    assert.equal(await gzipped.text(), script)
    const refused = await get('/console/assets/a-1.js', { 'accept-encoding': 'gzip;q=0' })
    assert.equal(refused.headers.get('content-encoding'), null)
    const icon = await get('/console/favicon.svg')
    assert.equal(icon.headers.get('cache-control'), 'public, max-age=3600')
  })

  test('answers no page for a file that is gone, and leaves its folder for nobody', async () => {
    assert.equal((await get('/console/assets/gone-2.js')).status, 404)
    for (const path of ['/console/..%2f..%2fpackage.json', '/console/%2e%2e/package.json']) {
      const text = await (await get(path)).text()
      assert.doesNotMatch(text, /"dependencies"/, path)
    }
  })

  test('is read anew when it was built anew', async () => {
    writeFileSync(join(folder, 'index.html'), page('two'))
    const later = new Date(Date.now() + 5_000)
    utimesSync(join(folder, 'index.html'), later, later)
    assert.match(await (await get('/console/')).text(), /<title>two/)
  })
})
