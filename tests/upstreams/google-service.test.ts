/** The tokens of service accounts: kept, renewed early, asked for once, and where. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import {
  createTokenCache,
  readGoogleFailure,
  refuseTokenUri,
  serviceAccount,
} from '../../server/wire/upstreams/google-service.ts'
import type { Wire } from '../../server/wire/upstreams/wire.ts'
import { serviceAccountOf } from '../../simulators/google/tokens.ts'

const ACCOUNT = serviceAccount.parse(serviceAccountOf('http://127.0.0.1:9'))

/** A token endpoint with a clock that the test sets. */
function endpoint(seconds = 3_600) {
  const state = { now: 0, asked: 0, status: 200 }
  const wire = {
    now: () => state.now,
    async send() {
      state.asked += 1
      const body = { access_token: `t${state.asked}`, expires_in: seconds, error: 'invalid_grant' }
      return {
        status: state.status,
        headers: {},
        body: Readable.from([Buffer.from(JSON.stringify(body))]),
      }
    },
  } as unknown as Wire
  return { state, wire }
}

test('a token is kept, renewed five minutes before its end, and for all waiting at once', async () => {
  const { state, wire } = endpoint()
  const tokens = createTokenCache()
  const get = () => tokens.get(wire, ACCOUNT)
  assert.deepEqual(await Promise.all([get(), get(), get()]), ['t1', 't1', 't1'])
  state.now = 54 * 60_000
  assert.equal(await get(), 't1')
  state.now = 56 * 60_000
  assert.deepEqual(await Promise.all([get(), get()]), ['t2', 't2'])
})

test('while a token is good, a failed renewal is no failure; after its end it is', async () => {
  const { state, wire } = endpoint()
  const tokens = createTokenCache()
  await tokens.get(wire, ACCOUNT)
  state.status = 503
  state.now = 56 * 60_000
  assert.equal(await tokens.get(wire, ACCOUNT), 't1')
  state.now = 61 * 60_000
  await assert.rejects(tokens.get(wire, ACCOUNT), { kind: 'not_sent' })
  state.status = 400
  await assert.rejects(tokens.get(wire, ACCOUNT), {
    kind: 'channel_fault',
    message: /invalid_grant/,
  })
})

test('calls that wait for another one’s token get their own if that call is cancelled', async () => {
  const { state, wire } = endpoint()
  const cancelled = { ...wire, send: () => Promise.reject(new Error('cancelled')) } as Wire
  const tokens = createTokenCache()
  const first = tokens.get(cancelled, ACCOUNT)
  const others = [tokens.get(wire, ACCOUNT), tokens.get(wire, ACCOUNT)]
  await assert.rejects(first, { kind: 'not_sent' })
  assert.deepEqual(await Promise.all(others), ['t1', 't1'])
  state.status = 503
  state.now = 61 * 60_000
  const failing = await Promise.allSettled([1, 2, 3].map(() => tokens.get(wire, ACCOUNT)))
  assert.ok(failing.every(({ status }) => status === 'rejected'))
  assert.equal(state.asked, 3)
})

test('a short token is not asked for at every call; a dropped one is asked for again', async () => {
  const { state, wire } = endpoint(60)
  const tokens = createTokenCache()
  assert.equal(await tokens.get(wire, ACCOUNT), 't1')
  state.now = 40_000
  assert.equal(await tokens.get(wire, ACCOUNT), 't1')
  tokens.drop(ACCOUNT, 't0')
  assert.equal(await tokens.get(wire, ACCOUNT), 't1')
  tokens.drop(ACCOUNT, 't1')
  assert.equal(await tokens.get(wire, ACCOUNT), 't2')
})

test('a key file is JSON or its text, with a private key', () => {
  assert.deepEqual(serviceAccount.parse(JSON.stringify(ACCOUNT)), ACCOUNT)
  assert.equal(serviceAccount.safeParse('no JSON').success, false)
  assert.equal(serviceAccount.safeParse({ ...ACCOUNT, private_key: 'x' }).success, false)
})

test('what is signed goes to a public host over TLS, or to the channel’s own', () => {
  const refuse = (uri: string, base = 'https://aiplatform.googleapis.com') =>
    refuseTokenUri({ ...ACCOUNT, token_uri: uri }, base) !== undefined
  assert.equal(refuse('https://oauth2.googleapis.com/token'), false)
  assert.equal(refuse('http://127.0.0.1:8080/token', 'http://127.0.0.1:9000'), false)
  for (const uri of [
    'http://oauth2.googleapis.com/token',
    'http://169.254.169.254/computeMetadata/v1/token',
    'https://169.254.169.254/token',
    'https://[::1]/token',
    'https://localhost/token',
    'https://metadata.google.internal/token',
    'https://intranet/token',
  ]) {
    assert.equal(refuse(uri), true, uri)
  }
})

test('a status that no table names is read by its number', async () => {
  const kindOf = async (name: string, status: number) => {
    const body = Readable.from([Buffer.from(JSON.stringify({ error: { status: name } }))])
    return (await readGoogleFailure({ status, headers: {}, body }, {})).kind
  }
  assert.equal(await kindOf('RESOURCE_EXHAUSTED', 400), 'busy')
  for (const name of ['ODD', 'constructor', 'toString', '__proto__']) {
    assert.equal(await kindOf(name, 400), 'rejected')
    assert.equal(await kindOf(name, 504), 'unknown')
  }
})

test('the wait is that of the body, or else of the header', async () => {
  const waitOf = async (details: object[]) => {
    const error = { status: 'UNAVAILABLE', details }
    const body = Readable.from([Buffer.from(JSON.stringify({ error }))])
    const headers = { 'retry-after': '9' }
    return (await readGoogleFailure({ status: 503, headers, body }, {})).details.retryAfterSeconds
  }
  assert.equal(await waitOf([{ retryDelay: '34.07s' }]), 34.07)
  assert.equal(await waitOf([]), 9)
})
