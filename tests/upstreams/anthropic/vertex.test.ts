/** Claude on Vertex AI behind a whole gateway: tokens, requests and charges. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { AnthropicVertex } from '@anthropic-ai/vertex-sdk'
import { serviceAccountOf } from '../../../simulators/google/tokens.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../../support/in-process.ts'

const VERSION = { 'anthropic-version': '2023-06-01' }
const MODEL = 'sim-claude@20260101'
const SCRIPT = '[[reason:hm]] [[cached:40]] [[say:the river]] where to? '.padEnd(400, 'x')

describe('Claude on Vertex AI', () => {
  let gateway: TestGateway
  let key: string
  before(async () => {
    gateway = await startTestGateway()
    const { url } = gateway.simulators
    const account = serviceAccountOf(url)
    const { project_id: _, ...withoutProject } = account
    const other = { ...account, client_email: 'other@project' }
    const channel = (id: string, settings: object) => {
      return {
        id,
        upstream: 'anthropic-vertex',
        settings: { base_url: `${url}/google`, ...settings },
      }
    }
    const price = (unit: string, amount: string) => ({ unit, per: 1_000_000, amount })
    const prices = [
      price('input_token', '3'),
      price('cached_input_token', '0.3'),
      price('output_token', '15'),
    ]
    const model = (id: string, ...channels: string[]) => ({
      id,
      type: 'chat',
      prices,
      routes: channels.map((one, priority) => ({ channel: one, upstream_model: MODEL, priority })),
    })
    await gateway.apply({
      currency: 'CNY',
      channels: [
        channel('text', { service_account: JSON.stringify(account), location: 'us-east5' }),
        channel('object', { service_account: withoutProject, project: 'p-1' }),
        channel('refused', { service_account: other }),
      ],
      models: [
        model('text', 'text'),
        model('object', 'object'),
        model('refused', 'refused'),
        model('refused-then-text', 'refused', 'text'),
      ],
    })
    key = (await gateway.tenant({ balance: '1000' })).key
  })
  after(() => gateway.stop())

  const ask = (model: string, content: string, more: object = {}, headers: object = {}) => {
    const body = { model, max_tokens: 300, messages: [{ role: 'user', content }], ...more }
    return gateway.post('/v1/messages', key, body, { ...VERSION, ...headers })
  }
  const calls = (operation: string) =>
    gateway.simulators.calls.list().filter((call) => call.operation === operation)
  const lastCall = () => {
    const call = calls('messages').at(-1)
    assert.ok(call)
    return { ...call, json: JSON.parse(Buffer.from(call.body_base64, 'base64').toString()) }
  }

  async function expectBooked(answer: TestAnswer): Promise<void> {
    assert.equal(answer.status, 200, answer.text)
    await gateway.simulators.book.settled()
    const [entry] = gateway.simulators.book.entries().slice(-1)
    const { lines, basis } = await gateway.record(answer, key)
    const units = Object.fromEntries(lines.map(({ unit, quantity }) => [unit, quantity]))
    assert.deepEqual([entry?.vendor, units, basis], ['google', entry?.units, 'usage'])
  }

  test('many first calls ask for one token, and the charge is the bill', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask('text', 'hi')))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    assert.equal(calls('token').length, 1)
    for (const stream of [false, true]) {
      await expectBooked(await ask('text', SCRIPT, { stream }))
      for (const [path, body] of [
        ['/v1/chat/completions', { messages: [{ role: 'user', content: SCRIPT }] }],
        ['/v1/responses', { input: SCRIPT }],
      ] as const) {
        await expectBooked(await gateway.post(path, key, { model: 'text', stream, ...body }))
      }
    }
    assert.equal(calls('token').length, 1)
    assert.match(lastCall().url, /projects\/sim-project\/locations\/us-east5\/.*@20260101:stream/)
  })

  test('a key file as an object, with a project of the channel', async () => {
    await expectBooked(await ask('object', SCRIPT))
    assert.match(lastCall().url, /\/projects\/p-1\/locations\/global\//)
  })

  test('the request is the one that the vendor’s SDK sends', async () => {
    const token = lastCall().headers.authorization ?? ''
    const sdk = new AnthropicVertex({
      baseURL: `${gateway.simulators.url}/google/v1`,
      region: 'us-east5',
      projectId: 'sim-project',
      authClient: {
        getRequestHeaders: async () => new Headers({ authorization: token }),
      } as never,
      maxRetries: 0,
    })
    const message = { role: 'user' as const, content: 'hi' }
    const betas = ['interleaved-thinking-2025-05-14', 'effort-2025-11-24']
    for (const stream of [false, true]) {
      const body = { model: MODEL, max_tokens: 9, messages: [message], stream, betas }
      const answered = await sdk.beta.messages.create(body)
      if (Symbol.asyncIterator in answered) for await (const _ of answered);
      const theirs = lastCall()
      await ask('text', 'hi', { max_tokens: 9, stream }, { 'anthropic-beta': betas.join() })
      const ours = lastCall()
      assert.equal(ours.url, theirs.url)
      assert.deepEqual(ours.json, theirs.json)
      assert.equal(ours.headers['anthropic-beta'], theirs.headers['anthropic-beta'])
    }
  })

  test('a token that was revoked is renewed once', async () => {
    const before = calls('token').length
    gateway.simulators.faults.add({
      vendor: 'google',
      operation: 'messages',
      times: 1,
      scenario: 'status=401',
    })
    await expectBooked(await ask('text', SCRIPT))
    assert.equal(calls('token').length, before + 1)
    gateway.simulators.faults.add({
      vendor: 'google',
      operation: 'messages',
      times: 2,
      scenario: 'status=401',
    })
    const answer = await ask('text', 'hi')
    assert.equal(answer.status, 502)
    assert.equal((await gateway.record(answer, key)).attempts[0]?.outcome, 'channel_fault')
  })

  test('a refused service account is the channel’s fault: the next route serves', async () => {
    const answer = await ask('refused-then-text', SCRIPT)
    await expectBooked(answer)
    const { attempts } = await gateway.record(answer, key)
    assert.deepEqual(
      attempts.map(({ outcome }) => outcome),
      ['channel_fault', 'answered'],
    )
  })

  for (const [status, code, answered, outcome] of [
    [400, 'INVALID_ARGUMENT', 400, 'rejected'],
    [400, 'FAILED_PRECONDITION', 502, 'channel_fault'],
    [403, 'PERMISSION_DENIED', 502, 'channel_fault'],
    [404, 'NOT_FOUND', 502, 'channel_fault'],
    [429, 'RESOURCE_EXHAUSTED', 429, 'busy'],
    [429, 'per-day', 502, 'channel_fault'],
    [503, 'UNAVAILABLE', 502, 'busy'],
    [504, 'DEADLINE_EXCEEDED', 502, 'unknown'],
  ] as const) {
    test(`${status} ${code} is ${outcome}`, async () => {
      const fault = `[[fault:status=${status};error-code=${code}]]`
      const answer = await ask('text', fault, { stream: true })
      assert.equal(answer.status, answered, answer.text)
      const { charged, attempts } = await gateway.record(answer, key)
      assert.deepEqual([charged, attempts[0]?.outcome], ['0', outcome])
      if (outcome === 'rejected') assert.equal(answer.json.error.type, 'invalid_request_error')
    })
  }

  test('a stream that is cut is charged for what came', async () => {
    const answer = await ask('text', '[[fault:reset-mid=5]] [[tokens:60]]', { stream: true })
    assert.match(answer.text, /event: error\ndata: .*\n\n$/)
    assert.equal((await gateway.record(answer, key)).basis, 'partial')
  })
})
