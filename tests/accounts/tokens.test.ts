/** The keys of an issuer: fetched together and rarely, gone in time, kept while it is away. */
import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import type { Log } from '../../server/base/lib/log.ts'
import type { TokenIssuer } from '../../server/base/lib/token-issuer.ts'
import { createTokens } from '../../server/money/accounts/tokens/tokens.ts'

const MINUTE_MS = 60_000
const ISSUER: TokenIssuer = {
  id: 'okta',
  issuer: 'https://acme.example',
  audience: 'tributary',
  jwks_uri: 'https://acme.example/keys',
  algorithms: ['ES256', 'RS256'],
  account: 'acct_1',
  models: null,
  limits: {},
}
const ignore = () => undefined
const silent: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore }
const NEVER = Number.POSITIVE_INFINITY

async function makeKey(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid }
  const token = (claims: object = {}, header: object = { kid }) =>
    new SignJWT({ iss: ISSUER.issuer, aud: 'tributary', sub: 'kim', exp: 4e9, ...claims })
      .setProtectedHeader({ alg: 'ES256', ...header })
      .sign(privateKey)
  return { jwk, token }
}

/** Tokens over a clock and an issuer that the test moves. */
function stage(keys: readonly JWK[]) {
  const state = {
    nowMs: 0,
    keys,
    away: false,
    fetches: 0,
    gate: undefined as Promise<void> | undefined,
  }
  const caller = { accountId: 'acct_1', keyId: 'key_1', keyLimits: {}, models: null }
  const row = { identified: { caller: caller as never }, accountId: 'acct_1', expiresAtMs: NEVER }
  const tokens = createTokens({
    sql: (async () => [{ member: null }]) as never,
    issuers: () => [ISSUER],
    lookUps: { find: async () => ({ ...row, readAtMs: state.nowMs }) },
    log: silent,
    nowMs: () => state.nowMs,
    dateMs: () => state.nowMs + 1_000_000_000_000,
    async fetchJson() {
      state.fetches += 1
      await state.gate
      if (state.away) throw new Error('away')
      return { keys: state.keys }
    },
  })
  const status = async (token: string) => {
    try {
      const { identified } = await tokens.find(token, token)
      return 'caller' in identified ? 200 : 401
    } catch (error) {
      return (error as { status?: number }).status
    }
  }
  return { state, status, find: tokens.find }
}

test('many callers share one fetch, and many unknown keys one in 30 seconds', async () => {
  const [known, unknown] = [await makeKey('a'), await makeKey('b')]
  const { state, status } = stage([known.jwk])
  const first = await Promise.all(
    Array.from({ length: 50 }, async (_, at) => status(await known.token({ jti: `${at}` }))),
  )
  assert.deepEqual([new Set(first), state.fetches], [new Set([200]), 1])
  const flood = async () => {
    const tokens = Array.from({ length: 50 }, (_, at) => unknown.token({}, { kid: `no-${at}` }))
    return new Set(await Promise.all((await Promise.all(tokens)).map(status)))
  }
  assert.deepEqual([await flood(), state.fetches], [new Set([401]), 2])
  state.nowMs += 29_000
  assert.deepEqual([await flood(), state.fetches], [new Set([401]), 2])
  state.nowMs += 2_000
  assert.deepEqual([await flood(), state.fetches], [new Set([401]), 3])
  assert.equal(await status(await known.token()), 200)
})

test('a new key is found at once, and its fetch is shared', async () => {
  const [old, next] = [await makeKey('a'), await makeKey('b')]
  const { state, status } = stage([old.jwk])
  await status(await old.token())
  state.keys = [old.jwk, next.jwk]
  const tokens = await Promise.all(
    Array.from({ length: 20 }, (_, at) => next.token({ jti: `${at}` })),
  )
  assert.deepEqual(new Set(await Promise.all(tokens.map(status))), new Set([200]))
  assert.equal(state.fetches, 2)
})

test('a key that has left the set stops within ten minutes, used or idle', async () => {
  for (const isUsed of [true, false]) {
    const [old, next] = [await makeKey('a'), await makeKey('b')]
    const { state, status } = stage([old.jwk])
    const token = await old.token()
    assert.equal(await status(token), 200)
    state.keys = [next.jwk]
    for (let ms = 0; ms < 10 * MINUTE_MS; ms += 4_000) {
      state.nowMs += 4_000
      if (isUsed) await status(token)
    }
    assert.equal(await status(token), 401, isUsed ? 'used' : 'idle')
    // Each use of the key that has left may ask for it again, every 30 seconds.
    assert.ok(state.fetches <= 12, `${state.fetches} fetches`)
  }
})

test('a token ends a minute after its exp, whenever its key would', async () => {
  const { jwk, token } = await makeKey('a')
  const { find } = stage([jwk])
  const { expiresAtMs } = await find(await token({ exp: 1_000_000_600 }), 'a')
  assert.equal(expiresAtMs, 660_000)
})

test('the key of the same id with other parts is another key', async () => {
  const [old, other] = [await makeKey('a'), await makeKey('a')]
  const { state, status } = stage([old.jwk])
  const token = await old.token()
  assert.equal(await status(token), 200)
  state.keys = [other.jwk]
  state.nowMs += 10 * MINUTE_MS
  assert.equal(await status(token), 401)
  assert.equal(await status(await other.token()), 200)
})

test('while an issuer is away its keys serve for a day, and unknown ones are a 503', async () => {
  const [known, unknown] = [await makeKey('a'), await makeKey('b')]
  const { state, status, find } = stage([known.jwk])
  const token = await known.token()
  await status(token)
  state.away = true
  for (let hour = 0; hour < 23; hour += 1) {
    state.nowMs += 60 * MINUTE_MS
    assert.equal(await status(token), 200, `hour ${hour}`)
    assert.equal(await status(await known.token({ jti: `${hour}` })), 200)
  }
  assert.equal(await status(await unknown.token()), 503)
  const wait = await find(await unknown.token({ jti: 'w' }), 'w').catch((error) => error.details)
  assert.ok('retryAfterSeconds' in wait && wait.retryAfterSeconds > 0)
  assert.ok('cause' in wait && wait.cause, 'no call waits for an issuer as for the database')
  state.nowMs += 62 * MINUTE_MS
  assert.equal(await status(token), 503, 'after a day')
  state.away = false
  state.nowMs += MINUTE_MS
  assert.equal(await status(token), 200)
})

test('sets with keys of every other kind give none', async () => {
  const key = await makeKey('a')
  const { jwk } = key
  const others: unknown[] = [
    null,
    'key',
    { ...jwk, use: 'enc' },
    { ...jwk, key_ops: ['sign'] },
    { kty: 'oct', k: 'c2VjcmV0', kid: 'a', alg: 'HS256' },
    { ...jwk, kty: 'constructor' },
    { ...jwk, x: 7 },
    { ...jwk, x: 'A'.repeat(5_000) },
    { ...jwk, x: 'AAAA', y: 'AAAA' },
  ]
  for (const other of others) {
    const { status } = stage([other as JWK])
    assert.equal(await status(await key.token()), 401, JSON.stringify(other))
  }
  const { status } = stage([...others.slice(0, 8), jwk] as JWK[])
  assert.equal(await status(await key.token()), 200)
  const two = stage([jwk, { ...(await makeKey('b')).jwk }])
  assert.equal(await two.status(await key.token({}, {})), 401, 'no kid and two keys')
})

test('a token of a key that is too short is refused', async () => {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { iss: ISSUER.issuer, aud: 'tributary', sub: 'kim', exp: 4e9 }
  const head = `${encode({ alg: 'RS256', kid: 'a' })}.${encode(claims)}`
  for (const [modulusLength, expected] of [
    [1_024, 401],
    [2_048, 200],
  ] as const) {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength })
    const { status } = stage([{ ...publicKey.export({ format: 'jwk' }), kid: 'a' } as JWK])
    const signature = sign('sha256', Buffer.from(head), privateKey).toString('base64url')
    assert.equal(await status(`${head}.${signature}`), expected, `${modulusLength} bits`)
  }
})
