/** Claude on Bedrock behind a whole gateway: what it charges is what the vendor booked. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { AnthropicBedrock } from '@anthropic-ai/bedrock-sdk'
import { startTestGateway, type TestAnswer, type TestGateway } from '../../../support/in-process.ts'
import { until } from '../../../support/until.ts'

const VERSION = { 'anthropic-version': '2023-06-01' }
const PROFILE = 'us.anthropic.sim-claude-v1:0'
const SCRIPT = '[[reason:hm]] [[cached:40]] [[cache-write:20]] [[say:the river]] where to? '.padEnd(
  600,
  'x',
)
const TOOL = { type: 'object', properties: { city: { type: 'string' } } }

const CREDENTIALS = {
  key: { api_key: 'sim-bedrock-key' },
  signed: { access_key_id: 'AKIASIMULATOR', secret_access_key: 'sim-bedrock-secret' },
  temporary: {
    access_key_id: 'ASIASIMULATOR',
    secret_access_key: 'sim-bedrock-secret',
    session_token: 'sim-bedrock-token',
  },
  wrong: { access_key_id: 'AKIASIMULATOR', secret_access_key: 'another' },
}

function catalog(simulators: string) {
  const base = { region: 'us-east-1', base_url: `${simulators}/bedrock` }
  const channels = Object.entries(CREDENTIALS).map(([id, credentials]) => {
    return { id, upstream: 'bedrock', settings: { ...base, ...credentials } }
  })
  const price = (unit: string, amount: string) => ({ unit, per: 1_000_000, amount })
  const prices = [
    price('input_token', '3'),
    price('cached_input_token', '0.3'),
    price('cache_write_5m_token', '3.75'),
    price('cache_write_1h_token', '6'),
    price('output_token', '15'),
  ]
  const model = (id: string, routes: object[]) => ({ id, type: 'chat', prices, routes })
  const to = (channel: string, upstream_model = PROFILE) => ({ channel, upstream_model })
  return {
    currency: 'CNY',
    channels,
    models: [
      ...Object.keys(CREDENTIALS).map((id) => model(`over-${id}`, [to(id)])),
      model('bare', [to('key', 'anthropic.sim-claude-v1:0')]),
      model('wrong-then-key', [to('wrong'), { ...to('key'), priority: 1 }]),
      model('arn', [to('key', `arn:aws:bedrock:us-east-1:123:inference-profile/${PROFILE}`)]),
    ],
  }
}

describe('Claude on Bedrock', () => {
  let gateway: TestGateway
  let key: string
  before(async () => {
    gateway = await startTestGateway()
    await gateway.apply(catalog(gateway.simulators.url), 'bedrock')
    key = (await gateway.tenant({ balance: '1000' })).key
  })
  after(() => gateway.stop())

  const ask = (model: string, content: unknown, more: object = {}, headers: object = {}) => {
    const body = { model, max_tokens: 300, messages: [{ role: 'user', content }], ...more }
    return gateway.post('/v1/messages', key, body, { ...VERSION, ...headers })
  }

  /** Requires a record of what the vendor booked last. */
  async function expectBooked(answer: TestAnswer): Promise<void> {
    assert.equal(answer.status, 200, answer.text)
    await gateway.simulators.book.settled()
    const [entry] = gateway.simulators.book.entries().slice(-1)
    assert.deepEqual([entry?.vendor, entry?.billed], ['bedrock', true])
    const { lines, basis, review } = await gateway.record(answer, key)
    const units: Record<string, number> = {}
    for (const { unit, quantity } of lines) units[unit] = (units[unit] ?? 0) + quantity
    const {
      cache_write_5m_token: written,
      cache_write_token: booked,
      ...rest
    } = {
      cache_write_5m_token: 0,
      cache_write_token: 0,
      ...units,
    }
    const { cache_write_token: write = 0, ...others } = entry?.units ?? {}
    const counted = Object.fromEntries(Object.entries(others).filter(([, count]) => count > 0))
    assert.deepEqual([written + booked, rest], [write, counted])
    assert.deepEqual([basis, review], ['usage', false])
  }

  const lastCall = () => {
    const call = gateway.simulators.calls.list().at(-1)
    assert.ok(call)
    return { ...call, json: JSON.parse(Buffer.from(call.body_base64, 'base64').toString()) }
  }

  for (const id of ['key', 'signed', 'temporary']) {
    for (const stream of [false, true]) {
      test(`messages over ${id}, stream: ${stream}: the charge is the bill`, async () => {
        const answer = await ask(`over-${id}`, SCRIPT, { stream })
        await expectBooked(answer)
        assert.match(answer.text, /the[\s\S]+ver/)
        if (stream) assert.match(answer.text, /event: message_stop\n.*\n\n$/)
      })
    }
  }

  for (const [path, body] of [
    ['/v1/chat/completions', { messages: [{ role: 'user', content: SCRIPT }] }],
    ['/v1/responses', { input: SCRIPT }],
    ['/v1/completions', { prompt: SCRIPT }],
  ] as const) {
    for (const stream of [false, true]) {
      test(`${path} over it, stream: ${stream}`, async () => {
        const answer = await gateway.post(path, key, { model: 'over-signed', stream, ...body })
        await expectBooked(answer)
        assert.match(answer.text, /the[\s\S]+ver/)
      })
    }
  }

  test('tools in parallel come back whole, in a stream too', async () => {
    const tools = ['one', 'two'].map((name) => ({ name, input_schema: TOOL }))
    const script = '[[tool:one {"city":"Rome"}]] [[tool:two {"city":"Oslo"}]]'
    const whole = await ask('over-key', script, { tools })
    const inputs = whole.json.content.map(({ input }: { input: object }) => input)
    assert.deepEqual(inputs, [{ city: 'Rome' }, { city: 'Oslo' }])
    const streamed = await ask('over-key', script, { tools, stream: true })
    await expectBooked(streamed)
    assert.equal(streamed.text.match(/"type":"tool_use"/g)?.length, 2)
  })

  test('the request is the one that the vendor’s SDK sends', async () => {
    const { signed } = CREDENTIALS
    const sdk = new AnthropicBedrock({
      baseURL: `${gateway.simulators.url}/bedrock`,
      awsRegion: 'us-east-1',
      awsAccessKey: signed.access_key_id,
      awsSecretKey: signed.secret_access_key,
      maxRetries: 0,
    })
    const message = { role: 'user' as const, content: 'hi' }
    const betas = ['interleaved-thinking-2025-05-14', 'effort-2025-11-24']
    for (const stream of [false, true]) {
      const body = { model: PROFILE, max_tokens: 9, messages: [message], stream, betas }
      const answered = await sdk.beta.messages.create(body)
      if (Symbol.asyncIterator in answered) for await (const _ of answered);
      const theirs = lastCall()
      await ask('over-signed', 'hi', { max_tokens: 9, stream }, { 'anthropic-beta': betas.join() })
      const ours = lastCall()
      assert.equal(decodeURIComponent(ours.url), theirs.url)
      assert.deepEqual(ours.json, theirs.json)
      assert.equal(ours.headers['anthropic-version'], undefined)
    }
  })

  test('betas that the vendor does not know are dropped, and named', async () => {
    const header =
      'oauth-2025-04-20,context-management-2025-06-27,advanced-tool-use-2025-11-20,effort-1'
    const answer = await ask('over-key', 'hi', {}, { 'anthropic-beta': header })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(
      answer.headers.get('x-tributary-ignored'),
      'anthropic-beta=oauth-2025-04-20, anthropic-beta=effort-1',
    )
    assert.deepEqual(lastCall().json.anthropic_beta, [
      'context-management-2025-06-27',
      'tool-search-tool-2025-10-19',
      'tool-examples-2025-10-29',
    ])
  })

  test('a beta named like what every object has is one that nobody knows', async () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      const answer = await ask('over-key', 'hi', {}, { 'anthropic-beta': name })
      assert.equal(answer.status, 200, answer.text)
      assert.equal(answer.headers.get('x-tributary-ignored'), `anthropic-beta=${name}`)
      const inside = await ask('over-key', 'hi', { anthropic_beta: [name, 1, {}] })
      assert.equal(inside.status, 200, inside.text)
    }
  })

  test('a deferred tool is loaded where nothing searches for tools', async () => {
    const tools = [{ name: 'one', input_schema: TOOL, defer_loading: true }]
    const answer = await ask('over-key', 'hi', { tools })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.headers.get('x-tributary-ignored'), 'tools.defer_loading')
    const search = { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' }
    const beta = { 'anthropic-beta': 'advanced-tool-use-2025-11-20' }
    await ask('over-key', 'hi', { tools: [...tools, search] }, beta)
    assert.deepEqual(lastCall().json.tools, [...tools, search])
  })

  test('a model by its ARN is one segment of the path', async () => {
    await expectBooked(await ask('arn', SCRIPT))
    assert.match(lastCall().url, /inference-profile%2Fus\.anthropic/)
  })

  test('a bare model id is the channel’s fault, and the hint says what to set', async () => {
    const answer = await ask('bare', 'hi')
    assert.equal(answer.status, 502)
    assert.doesNotMatch(answer.text, /on-demand/)
    const { request_id: id, charged, attempts } = await gateway.record(answer, key)
    assert.deepEqual([charged, attempts[0]?.outcome], ['0', 'channel_fault'])
    const [row] = await gateway.sql`
      select attempts -> 0 ->> 'reason' as reason from call where request_id = ${id}`
    assert.match(
      row?.reason,
      /^set the upstream_model of the route to an inference profile, such as/,
    )
  })

  test('a wrong secret is the channel’s fault: the next route serves', async () => {
    const answer = await ask('wrong-then-key', SCRIPT)
    await expectBooked(answer)
    const { attempts } = await gateway.record(answer, key)
    assert.deepEqual(
      attempts.map(({ outcome }) => outcome),
      ['channel_fault', 'answered'],
    )
  })

  for (const [name, status, outcome] of [
    ['ValidationException', 400, 'rejected'],
    ['ServiceQuotaExceededException', 502, 'channel_fault'],
    ['ThrottlingException', 429, 'busy'],
    ['ServiceUnavailableException', 502, 'busy'],
    ['ModelErrorException', 502, 'failed'],
    ['ModelTimeoutException', 502, 'unknown'],
    ['ExpiredTokenException', 502, 'channel_fault'],
  ] as const) {
    const statusOf = { 400: 400, 429: 429, 502: 503 }
    for (const form of ['status', 'exception']) {
      test(`${name} by ${form} is ${outcome}`, async () => {
        const fault =
          form === 'status'
            ? `status=${name.includes('Quota') ? 400 : statusOf[status]};error-code=${name}`
            : `error-mid=event;at=0;error-code=${name}`
        const answer = await ask('over-key', `[[fault:${fault}]]`, { stream: true })
        assert.equal(answer.status, status, answer.text)
        const { charged, attempts } = await gateway.record(answer, key)
        assert.deepEqual([charged, attempts[0]?.outcome], ['0', outcome])
        if (outcome === 'rejected') assert.equal(answer.json.type, 'error')
      })
    }
  }

  test('an exception after content ends the stream with the format’s error', async () => {
    const fault = '[[fault:error-mid=event;at=4;error-code=ModelStreamErrorException]]'
    const answer = await ask('over-key', `${fault} [[tokens:40]]`, { stream: true })
    assert.equal(answer.status, 200)
    assert.match(answer.text, /event: error\ndata: .*\n\n$/)
    assert.equal((await gateway.record(answer, key)).basis, 'partial')
  })

  for (const fault of ['reset-mid=5', 'bad-checksum=5', 'cut-after-bytes=1500']) {
    test(`a stream broken by ${fault} is charged for what came`, async () => {
      const answer = await ask('over-key', `[[fault:${fault}]] [[tokens:60]]`, { stream: true })
      assert.match(answer.text, /event: error\ndata: .*\n\n$/)
      const { basis, charged, held } = await gateway.record(answer, key)
      assert.equal(basis, 'partial')
      assert.ok(Number(charged) > 0 && Number(charged) <= Number(held))
    })
  }

  test('split anywhere, the stream is the same', async () => {
    const answer = await ask('over-key', `[[fault:split=bytes]] ${SCRIPT}`, { stream: true })
    await expectBooked(answer)
  })

  test('a caller that leaves pays for what the vendor generated', async () => {
    const controller = new AbortController()
    const response = await gateway.fetch('/v1/messages', {
      key,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...VERSION },
      body: JSON.stringify({
        model: 'over-signed',
        max_tokens: 300,
        stream: true,
        messages: [{ role: 'user', content: '[[tokens:50]] [[chunk-delay:5]]' }],
      }),
      signal: controller.signal,
    })
    await response.body?.getReader().read()
    controller.abort()
    const record = await until('the record of the call', async () => {
      const found = await gateway.record(response, key).catch(() => undefined)
      return found?.basis ? found : undefined
    })
    await gateway.simulators.book.settled()
    const [entry] = gateway.simulators.book.entries().slice(-1)
    const output = record.lines.find(({ unit }) => unit === 'output_token')?.quantity
    assert.deepEqual([output, record.basis], [entry?.units.output_token, 'usage'])
  })
})
