import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTotpSecret, matchTotp, totpUri } from '../../server/api/sign-in/factors/totp.ts'
import { stepOf, totpCode } from './authenticator-app.ts'

/** RFC 6238, appendix B: the ASCII secret 12345678901234567890, here in base 32. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const VECTORS: readonly (readonly [seconds: number, code: string])[] = [
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
]

describe('one-time passwords', () => {
  for (const [seconds, code] of VECTORS) {
    test(`RFC 6238 at ${seconds} s`, async () => {
      assert.equal(totpCode(SECRET, stepOf(seconds * 1000), 8), code)
      const step = await matchTotp(SECRET, code.slice(2), seconds * 1000)
      assert.equal(step, stepOf(seconds * 1000))
    })
  }

  test('a code is good one step early and one step late, and no longer', async () => {
    const step = 1_000_000
    const code = totpCode(SECRET, step)
    const matches = await Promise.all(
      [-2, -1, 0, 1, 2].map((off) => matchTotp(SECRET, code, (step + off) * 30_000)),
    )
    assert.deepEqual(matches, [undefined, step, step, step, undefined])
  })

  test('what is not six digits matches nothing', async () => {
    for (const code of ['', '12345', '1234567', 'abcdef', '１２３４５６']) {
      assert.equal(await matchTotp(SECRET, code, 0), undefined)
    }
  })

  test('secrets carry 160 bits, and apps can read their address', async () => {
    const secret = await createTotpSecret()
    assert.match(secret, /^[A-Z2-7]{32}$/)
    assert.notEqual(secret, await createTotpSecret())
    const uri = new URL(await totpUri(secret, 'a+b@example.com'))
    assert.equal(uri.protocol, 'otpauth:')
    assert.equal(uri.searchParams.get('secret'), secret)
    assert.equal(decodeURIComponent(uri.pathname), '/Tributary:a+b@example.com')
  })
})
