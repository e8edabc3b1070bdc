/** The API under the prefixes of the native one: same calls, its error form and codes. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Stage, startStage } from '../support/gateway.ts'

const PREFIXES = ['/api/v3', '/v3', '/api/v1']
const HELLO = [{ role: 'user', content: 'hello' }]

const CALLS: readonly (readonly [path: string, body: object, member: string])[] = [
  ['/chat/completions', { model: 'sim-ark-chat', messages: HELLO }, 'choices'],
  ['/responses', { model: 'sim-chat', input: 'hello' }, 'output'],
  ['/embeddings', { model: 'sim-embedding', input: 'hello' }, 'data'],
  ['/images/generations', { model: 'doubao-seedream-4-0-250828', prompt: 'a river' }, 'data'],
]

describe('the prefixes of the native API', () => {
  let stage: Stage
  before(async () => {
    stage = await startStage()
  })
  after(() => stage.stop())

  const errorOf = async (answer: Response) =>
    (await answer.json()) as {
      type: string
      error: { code: string; message: string; param: string; type: string }
    }

  test('a refusal of a vendor of another protocol has the native form', async () => {
    const body = { model: 'sim-claude', input: 'hello', temperature: -1 }
    const refused = await stage.post('/api/v3/responses', body)
    const { error } = await errorOf(refused)
    assert.deepEqual([refused.status, error.code], [400, 'InvalidParameter'])
    assert.match(error.message, /^temperature: .* Request id: /)
    assert.equal(error.type, 'BadRequest')
  })

  for (const prefix of PREFIXES) {
    for (const [path, body, member] of CALLS) {
      test(`${prefix}${path} serves the call, and charges it`, async () => {
        const answer = await stage.post(prefix + path, body)
        const text = await answer.text()
        assert.equal(answer.status, 200, text)
        assert.ok(Array.isArray(JSON.parse(text)[member]), text)
        const id = answer.headers.get('x-request-id')
        const record = (await (await stage.get(`/v1/usage/${id}`)).json()) as { status: string }
        assert.equal(record.status, 'succeeded')
      })

      test(`${prefix}${path} refuses in the native form`, async () => {
        const missing = await stage.post(prefix + path, { ...body, model: undefined })
        assert.equal(missing.status, 400)
        const { error } = await errorOf(missing)
        assert.deepEqual([error.code, error.type], ['MissingParameter', 'BadRequest'])
        const unknown = await stage.post(prefix + path, { ...body, model: 'no-such' })
        assert.equal(unknown.status, 404)
        assert.equal((await errorOf(unknown)).error.code, 'InvalidEndpointOrModel.NotFound')
        const keyless = await stage.post(prefix + path, body, { authorization: 'Bearer tr-no' })
        assert.equal(keyless.status, 401)
        const refused = await errorOf(keyless)
        assert.deepEqual(
          [refused.error.code, refused.error.type, refused.type],
          ['AuthenticationError', 'Unauthorized', 'auth_error'],
        )
        const id = keyless.headers.get('x-request-id')
        assert.match(refused.error.message, new RegExp(` Request id: ${id}$`))
      })
    }
  }

  test('a stream, a stored response and its deletion', async () => {
    const chat = { model: 'sim-ark-chat', messages: HELLO, stream: true }
    const stream = await (await stage.post('/api/v3/chat/completions', chat)).text()
    assert.match(stream, /data: \[DONE\]\s*$/)
    const created = await stage.post('/api/v3/responses', { model: 'sim-chat', input: 'hello' })
    const { id } = (await created.json()) as { id: string }
    const stored = await stage.get(`/api/v3/responses/${id}`)
    assert.equal(((await stored.json()) as { id: string }).id, id)
    assert.equal((await stage.get(`/api/v3/responses/${id}/input_items`)).status, 200)
    const unknown = await stage.get('/api/v3/responses/resp_unknown')
    assert.equal(unknown.status, 404)
    assert.equal((await errorOf(unknown)).error.code, 'ResourceNotFound')
  })

  test('invalid fields are named; unknown paths and methods have the native form', async () => {
    const invalid = await stage.post('/api/v3/chat/completions', {
      model: 'sim-ark-chat',
      messages: HELLO,
      n: 'two',
    })
    const { error } = await errorOf(invalid)
    assert.deepEqual([error.code, error.param], ['InvalidParameter', 'n'])
    const nowhere = await stage.get('/api/v3/no/such')
    assert.equal(nowhere.status, 404)
    assert.equal((await errorOf(nowhere)).error.code, 'ResourceNotFound')
    const put = await fetch(`${stage.url}/api/v3/embeddings`, { method: 'PUT' })
    assert.equal(put.status, 405)
    assert.equal((await errorOf(put)).error.code, 'InvalidAction')
    // The same calls under /v1 keep the form of their own SDKs.
    const own = await errorOf(await stage.post('/v1/embeddings', { input: 'x' }))
    assert.equal(own.type, 'error')
  })

  test('402 and 429 have codes of the native API', async () => {
    const poor = await stage.createCaller('0')
    const rushed = await stage.createCaller('1', { limits: { requests_per_minute: 1 } })
    const body = { model: 'sim-ark-chat', messages: HELLO }
    const call = ({ key }: { key: { key: string } }) =>
      stage.post('/api/v3/chat/completions', body, { authorization: `Bearer ${key.key}` })
    const broke = await call(poor)
    assert.equal(broke.status, 402)
    assert.equal((await errorOf(broke)).error.code, 'AccountOverdueError')
    await (await call(rushed)).text()
    const limited = await call(rushed)
    assert.equal(limited.status, 429)
    assert.equal((await errorOf(limited)).error.code, 'AccountRateLimitExceeded')
  })
})
