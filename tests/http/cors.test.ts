/** Pages of other origins may call the public API if the operator allows it, and nothing else. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { ENDPOINTS } from '../../server/api/endpoints/index.ts'
import { toTemplate } from '../../server/api/endpoints/serving.ts'
import { launchBrowser, noBrowser } from '../support/browser.ts'
import { startTestGateway, type Tenant, type TestGateway } from '../support/in-process.ts'

const PAGE = 'https://app.example.com'
const CHAT = '/v1/chat/completions'
const ALLOW_ORIGIN = 'access-control-allow-origin'

/** What a browser asks before a request with a key. */
function preflight(gateway: TestGateway, path: string, method: string, origin = PAGE) {
  const names = 'authorization,content-type,x-stainless-os'
  return gateway.fetch(path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': names,
    },
  })
}

const corsOf = (answer: Response) =>
  [...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))

describe('CORS', () => {
  let off: TestGateway
  let any: TestGateway
  let some: TestGateway
  before(async () => {
    off = await startTestGateway()
    any = await startTestGateway({ CORS_ORIGINS: '*' })
    some = await startTestGateway({ CORS_ORIGINS: `http://127.0.0.1:3000, ${PAGE}` })
  })
  after(async () => {
    for (const gateway of [off, any, some]) await gateway.stop()
  })

  test('is off until it is set', async () => {
    const refused = await preflight(off, CHAT, 'POST')
    assert.deepEqual([refused.status, corsOf(refused)], [405, []])
    const answer = await off.fetch('/healthz', { headers: { origin: PAGE } })
    assert.deepEqual([corsOf(answer), answer.headers.get('vary')], [[], null])
  })

  test('a preflight of any endpoint is answered, without a key', async () => {
    for (const gateway of [any, some]) {
      for (const { method, paths } of ENDPOINTS) {
        const path = toTemplate(paths[0]).replace(/\{\w+\}/g, 'x')
        const answer = await preflight(gateway, path, method)
        assert.equal(answer.status, 204, `${method} ${path}`)
        const { headers } = answer
        assert.equal(headers.get(ALLOW_ORIGIN), gateway === any ? '*' : PAGE)
        assert.equal(headers.get('access-control-allow-methods'), method)
        assert.match(headers.get('access-control-allow-headers') ?? '', /authorization.*stainless/)
        assert.equal(headers.get('access-control-max-age'), '7200')
        assert.equal(headers.get('access-control-allow-credentials'), null)
      }
    }
  })

  test('another origin is refused as if CORS were off', async () => {
    for (const origin of [
      'https://evil.example',
      `${PAGE}.evil.example`,
      'null',
      'http://app.example.com',
    ]) {
      const refused = await preflight(some, CHAT, 'POST', origin)
      assert.deepEqual([refused.status, corsOf(refused)], [405, []], origin)
      const answer = await some.fetch('/healthz', { headers: { origin } })
      assert.deepEqual([answer.status, corsOf(answer)], [200, []])
      assert.equal(answer.headers.get('vary'), 'origin', 'a cache keeps one for each origin')
    }
  })

  test('answers, errors and streams say who may read them, and which headers', async () => {
    for (const gateway of [any, some]) {
      const { key } = await gateway.tenant()
      const messages = [{ role: 'user', content: 'Name three rivers.' }]
      for (const [body, status] of [
        [{ model: 'sim-chat', messages }, 200],
        [{ model: 'sim-chat', messages, stream: true }, 200],
        [{ model: 'none', messages }, 404],
      ] as const) {
        const answer = await gateway.post(CHAT, key, body, { origin: PAGE })
        assert.equal(answer.status, status)
        assert.equal(answer.headers.get(ALLOW_ORIGIN), gateway === any ? '*' : PAGE)
        assert.equal(answer.headers.get('access-control-allow-credentials'), null)
        const exposed = answer.headers.get('access-control-expose-headers')?.split(', ') ?? []
        for (const name of ['x-request-id', 'retry-after', 'x-should-retry']) {
          assert.ok(exposed.includes(name), name)
        }
        const isEncoded = answer.headers.get('content-encoding') !== null
        const vary = [
          ...(gateway === some ? ['origin'] : []),
          ...(isEncoded ? ['accept-encoding'] : []),
        ]
        assert.equal(answer.headers.get('vary') ?? '', vary.join(', '))
      }
      const keyless = await gateway.post(CHAT, '', {}, { origin: PAGE, authorization: '' })
      assert.equal(keyless.status, 401)
      assert.equal(keyless.headers.get(ALLOW_ORIGIN), gateway === any ? '*' : PAGE)
    }
  })

  test('never the console, its API, nor what vendors call', async () => {
    for (const [path, method] of [
      ['/admin/v1/me', 'GET'],
      ['/admin/v1/sign-in', 'POST'],
      ['/admin/v1/top-ups', 'POST'],
      ['/console/', 'GET'],
      ['/v1/hooks/upstream/x', 'POST'],
      ['/admin/v1/nowhere', 'GET'],
      ['/console', 'DELETE'],
      ['/admin?v1', 'GET'],
    ] as const) {
      for (const origin of [PAGE, any.url]) {
        const refused = await preflight(any, path, method, origin)
        assert.ok(refused.status >= 400, path)
        assert.deepEqual(corsOf(refused), [], path)
        const answer = await any.fetch(path, { method, headers: { origin } })
        assert.deepEqual(corsOf(answer), [], path)
      }
    }
  })

  test('a page can read why a path or a method is refused', async () => {
    for (const gateway of [any, some]) {
      for (const [path, method, status] of [
        ['/v1/nowhere?x=1', 'GET', 404],
        ['/chat/completions', 'POST', 404],
        ['/v1/engines', 'POST', 404],
        [CHAT, 'DELETE', 405],
      ] as const) {
        const allowed = await preflight(gateway, path, method)
        assert.equal(allowed.status, status === 404 ? 204 : 405, path)
        const answer = await gateway.fetch(path, { method, headers: { origin: PAGE } })
        assert.equal(answer.status, status, path)
        assert.equal(answer.headers.get(ALLOW_ORIGIN), gateway === any ? '*' : PAGE, path)
      }
    }
    const closed = await preflight(off, '/v1/nowhere', 'GET')
    assert.deepEqual([closed.status, corsOf(closed)], [404, []])
  })

  test('OPTIONS that is no preflight is a 405, and odd header names are not repeated', async () => {
    const plain = await any.fetch(CHAT, { method: 'OPTIONS', headers: { origin: PAGE } })
    assert.equal(plain.status, 405)
    const odd = await any.fetch(CHAT, {
      method: 'OPTIONS',
      headers: {
        origin: PAGE,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'a, <script>',
      },
    })
    assert.deepEqual([odd.status, odd.headers.get('access-control-allow-headers')], [204, null])
    const other = await preflight(any, CHAT, 'DELETE')
    assert.equal(other.status, 405)
  })
})

describe('a page in a browser', { skip: noBrowser }, () => {
  let browser: Browser
  let gateway: TestGateway
  let tenant: Tenant
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>x</title>')
  }).listen(0, '127.0.0.1')
  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  before(async () => {
    gateway = await startTestGateway({ CORS_ORIGINS: origin() })
    tenant = await gateway.tenant()
    browser = await launchBrowser()
  })
  after(async () => {
    await browser?.close()
    server.close()
    await gateway.stop()
  })

  /** Streams a chat completion from the page, as a library in it would. */
  async function stream(from: string) {
    const page = await browser.newPage()
    await page.goto(from)
    return page.evaluate(
      async ({ url, key }) => {
        try {
          const answer = await fetch(url, {
            method: 'POST',
            headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
            body: JSON.stringify({
              model: 'sim-chat',
              stream: true,
              messages: [{ role: 'user', content: 'Name three rivers.' }],
            }),
          })
          const text = await answer.text()
          return { id: answer.headers.get('x-request-id'), text }
        } catch (error) {
          return { id: null, text: String(error) }
        }
      },
      { url: gateway.url + CHAT, key: tenant.key },
    )
  }

  test('of an origin that may call reads a stream and its request id', async () => {
    const { id, text } = await stream(origin())
    assert.match(id ?? '', /^req_/)
    assert.match(text, /data: \[DONE\]/)
  })

  test('of another origin reads nothing, and nothing is charged', async () => {
    const before = await gateway.sql`select id from hold`
    const { id, text } = await stream(origin().replace('127.0.0.1', 'localhost'))
    assert.deepEqual([id, text], [null, 'TypeError: Failed to fetch'])
    assert.equal((await gateway.sql`select id from hold`).length, before.length)
  })
})
