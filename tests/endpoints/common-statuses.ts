/**
 * The refusals that every metered endpoint shares. Each endpoint's test runs all of them with a
 * request of its own, so that no endpoint can forget one.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestAnswer, TestGateway } from '../support/in-process.ts'

type Body = Readonly<Record<string, unknown>>

export interface CommonCase {
  readonly path: string
  readonly body: Body
  readonly model: string
  readonly envelope: 'flat' | 'nested'
  /** Headers that the endpoint needs on every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Asks the simulated vendor for a failure, by words in the request. */
  readonly withWords: (words: string) => Body
  /** The same request with another model, wherever the endpoint names it. */
  readonly withModel: (model: string) => { readonly path: string; readonly body: Body }
}

function errorOf(answer: TestAnswer, envelope: 'flat' | 'nested') {
  if (envelope === 'flat') {
    assert.equal(typeof answer.json?.error, 'string', answer.text)
    return { type: answer.json.type, message: answer.json.error }
  }
  assert.equal(answer.json?.type, 'error', answer.text)
  return answer.json.error
}

export function testCommonStatuses(start: () => TestGateway, common: CommonCase): void {
  const { path, body, envelope } = common
  const post = (
    gateway: TestGateway,
    target: string,
    key: string,
    content: unknown,
    headers: object = {},
  ) => gateway.post(target, key, content, { ...common.headers, ...headers })
  const run = (title: string, work: (gateway: TestGateway) => Promise<void>) =>
    test(`${path.split('?')[0]}: ${title}`, () => work(start()))

  run('401 without a key, with junk, and with two different keys', async (gateway) => {
    const { key } = await gateway.tenant()
    for (const headers of [
      {},
      { authorization: 'Bearer nonsense' },
      { authorization: `Bearer ${key.slice(0, -1)}` },
      { authorization: `Bearer ${key}`, 'x-api-key': 'tr-other' },
    ]) {
      const answer = await post(gateway, path, '', body, { authorization: '', ...headers })
      assert.equal(answer.status, 401)
      assert.equal(errorOf(answer, envelope).type, 'auth_error')
      assert.equal(answer.headers.get('x-should-retry'), 'false')
      assert.match(answer.headers.get('x-request-id') ?? '', /^req_/)
    }
  })

  run('402 when the balance does not cover the hold, and nothing is recorded', async (gateway) => {
    const { key, accountId } = await gateway.tenant({ balance: '0.000000001' })
    const answer = await post(gateway, path, key, body)
    assert.equal(answer.status, 402)
    const error = errorOf(answer, envelope)
    assert.equal(error.type, 'billing_error')
    assert.match(error.message, /^insufficient balance -- please top up/)
    assert.equal(answer.headers.get('x-should-retry'), 'false')
    assert.equal((await gateway.balance(accountId)).available, 1n)
    assert.deepEqual((await gateway.get('/v1/usage', key)).json.data, [])
  })

  run('402 when the spend limit of the key is reached', async (gateway) => {
    const { key } = await gateway.tenant({ key: { spendLimitNanos: 1n } })
    const answer = await post(gateway, path, key, body)
    assert.equal(answer.status, 402)
    assert.match(errorOf(answer, envelope).message, /spend limit/)
  })

  run('403 for a model that the key may not call', async (gateway) => {
    const { key } = await gateway.tenant({ key: { models: ['another'] } })
    const answer = await post(gateway, path, key, body)
    assert.equal(answer.status, 403)
    assert.equal(errorOf(answer, envelope).type, 'permission_error')
  })

  run('404 for a model that does not exist, 400 for one of another kind', async (gateway) => {
    const { key } = await gateway.tenant()
    const missing = common.withModel('no-such-model')
    const answer = await post(gateway, missing.path, key, missing.body)
    assert.equal(answer.status, 404)
    assert.match(errorOf(answer, envelope).message, /no-such-model/)
    const other = common.withModel(common.model === 'sim-chat' ? 'sim-embedding' : 'sim-chat')
    assert.equal((await post(gateway, other.path, key, other.body)).status, 400)
  })

  run('400 for what is not a JSON object, 415 for what is not read', async (gateway) => {
    const { key } = await gateway.tenant()
    for (const text of ['', '{', '[]', 'null', '"x"', '{"a":1,"a":2}', '['.repeat(100)]) {
      const answer = await post(gateway, path, key, text)
      assert.equal(answer.status, 400, text.slice(0, 20))
      assert.equal(errorOf(answer, envelope).type, 'invalid_request_error')
    }
    const form = { 'content-type': 'multipart/form-data; boundary=x' }
    assert.equal((await post(gateway, path, key, 'x', form)).status, 415)
    const encoded = { 'content-encoding': 'gzip' }
    assert.equal((await post(gateway, path, key, '{}', encoded)).status, 415)
  })

  run('413 for a body over the limit', async (gateway) => {
    const { key } = await gateway.tenant()
    const answer = await post(gateway, path, key, ' '.repeat(33 * 1024 * 1024))
    assert.equal(answer.status, 413)
  })

  run('409 and 422 by Idempotency-Key, and the first answer again', async (gateway) => {
    const { key, accountId } = await gateway.tenant()
    const header = { 'idempotency-key': 'once' }
    const first = await post(gateway, path, key, body, header)
    assert.equal(first.status, 200)
    const after = await gateway.balance(accountId)
    const second = await post(gateway, path, key, body, header)
    if (first.headers.get('content-length') === null) {
      assert.equal(second.status, 409, 'a stream is not replayed')
    } else {
      assert.equal(second.text, first.text)
      assert.equal(second.headers.get('idempotent-replayed'), first.headers.get('x-request-id'))
    }
    const other = await post(gateway, path, key, { ...body, user: { uid: 'other' } }, header)
    assert.equal(other.status, 422)
    assert.deepEqual(await gateway.balance(accountId), after, 'charged once')
  })

  run('429 with Retry-After over the rate of a key', async (gateway) => {
    const { key } = await gateway.tenant({ key: { limits: { requests_per_minute: 1 } } })
    assert.equal((await post(gateway, path, key, body)).status, 200)
    const answer = await post(gateway, path, key, body)
    assert.equal(answer.status, 429)
    assert.equal(errorOf(answer, envelope).type, 'rate_limit_error')
    assert.equal(errorOf(answer, envelope).message, 'rate limit exceeded')
    assert.ok(Number(answer.headers.get('retry-after')) > 0)
  })

  run('502 when the vendor fails, and the hold goes back', async (gateway) => {
    const { key, accountId } = await gateway.tenant()
    const before = await gateway.balance(accountId)
    const answer = await post(gateway, path, key, common.withWords('[[fault:status=500]]'))
    assert.equal(answer.status, 502, answer.text)
    const error = errorOf(answer, envelope)
    assert.equal(error.type, 'server_error')
    assert.equal(error.message, 'upstream provider error')
    const record = await gateway.record(answer, key)
    assert.equal(record.status, 'failed')
    assert.equal(record.charged, '0')
    assert.deepEqual(await gateway.balance(accountId), before)
  })
}
