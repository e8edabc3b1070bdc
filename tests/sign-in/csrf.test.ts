import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { ADMIN_CONTRACT } from '../../server/api/admin/contract.ts'
import type { Contract } from '../../server/api/admin/route.ts'
import { createConsoleAddress, requireCsrf } from '../../server/api/sign-in/console-address.ts'
import { type ConsoleUnderTest, startConsole } from './support.ts'

/** Headers of a request, and whether it may change something where PUBLIC_URL is set. */
const MATRIX: readonly (readonly [headers: Record<string, string>, passes: boolean])[] = [
  [{ 'x-tributary-console': '1' }, true],
  [{}, false],
  [{ 'x-tributary-console': '0' }, false],
  [{ 'x-tributary-console': '1', 'sec-fetch-site': 'same-origin' }, true],
  [{ 'x-tributary-console': '1', 'sec-fetch-site': 'same-site' }, false],
  [{ 'x-tributary-console': '1', 'sec-fetch-site': 'cross-site' }, false],
  [{ 'x-tributary-console': '1', 'sec-fetch-site': 'none' }, false],
  [{ 'x-tributary-console': '1', origin: 'https://console.example.com' }, true],
  [{ 'x-tributary-console': '1', origin: 'https://evil.example.com' }, false],
  [{ 'x-tributary-console': '1', origin: 'http://console.example.com' }, false],
  [{ 'x-tributary-console': '1', origin: 'https://console.example.com:8443' }, false],
  [{ 'x-tributary-console': '1', origin: 'null' }, false],
  [{ origin: 'https://console.example.com', 'sec-fetch-site': 'same-origin' }, false],
  // The Host header is whatever the sender likes.
  [{ 'x-tributary-console': '1', origin: 'https://evil.test', host: 'evil.test' }, false],
]

describe('requests that other sites make', () => {
  const fixed = createConsoleAddress({
    baseUrl: () => 'https://console.example.com',
    isFixed: true,
  })
  for (const [headers, passes] of MATRIX) {
    test(`${JSON.stringify(headers)} ${passes ? 'passes' : 'is refused'}`, () => {
      const request = { headers } as unknown as IncomingMessage
      const check = () => requireCsrf(request, fixed)
      if (passes) check()
      else assert.throws(check, { row: 'forbidden' })
    })
  }

  test('without PUBLIC_URL, a page must come from the host that it calls', () => {
    const place = createConsoleAddress({ baseUrl: () => 'http://127.0.0.1:8080', isFixed: false })
    const judge = (origin: string, host: string) => () =>
      requireCsrf(
        { headers: { 'x-tributary-console': '1', origin, host } } as unknown as IncomingMessage,
        place,
      )
    judge('http://localhost:8080', 'localhost:8080')()
    judge('http://gateway.lan:9000', 'gateway.lan:9000')()
    assert.throws(judge('http://evil.test', 'localhost:8080'), { row: 'forbidden' })
    assert.throws(judge('http://localhost:3000', 'localhost:8080'), { row: 'forbidden' })
  })

  describe('over the API', () => {
    let console: ConsoleUnderTest
    before(async () => {
      console = await startConsole()
    })
    after(() => console.stop())

    test('every route that changes something requires the header', async () => {
      const contract: Contract = ADMIN_CONTRACT
      const unsafe = Object.entries(contract).filter(([key]) => !key.startsWith('GET '))
      // A machine's call, which carries a signature instead of a cookie.
      const signed = unsafe.filter(([, declared]) => declared.isSigned).map(([key]) => key)
      assert.deepEqual(signed, ['POST /top-ups'])
      const keys = unsafe.map(([key]) => key).filter((key) => !signed.includes(key))
      assert.ok(keys.length > 30)
      for (const key of keys) {
        const [method = '', path = ''] = key.split(' ')
        const response = await fetch(`${console.url}/admin/v1${path.replace(/:\w+/g, 'x')}`, {
          method,
          headers: { 'content-type': 'application/json' },
          body: '{}',
        })
        const body = await response.text()
        assert.equal(response.status, 403, key)
        assert.match(body, /x-tributary-console/, key)
      }
    })

    test('links have the configured address, not that of the Host header', async () => {
      const { email } = await console.person({ isOperator: true })
      const browser = await console.signedIn(email)
      await console.sql`insert into passkey (id, person_id, name, credential_id, public_key)
        select 'pky_x', id, 'x', 'x', 'x' from person where email = ${email}`
      const headers = { host: 'evil.test', 'x-forwarded-host': 'evil.test' }
      const body = { email: 'new@example.com' }
      const { json } = await browser.send('POST', '/operator/invitations', body, headers)
      assert.ok(json.link.startsWith(`${console.url}/console/invite#token=`), json.link)
    })
  })
})
