/** Gemini in its own format behind a whole gateway: every dialect, charges and refusals. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { serviceAccountOf } from '../../../simulators/google/tokens.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../../support/in-process.ts'

const VERSION = { 'anthropic-version': '2023-06-01' }
const SCRIPT = '[[reason:hm, hm]] [[cached:40]] [[say:the river]] where to? '.padEnd(400, 'x')
const PDF = `data:application/pdf;base64,${Buffer.from('%PDF-1.4').toString('base64')}`
const MP4 = 'data:video/mp4;base64,AAAA'

describe('Gemini', () => {
  let gateway: TestGateway
  let key: string
  before(async () => {
    gateway = await startTestGateway()
    const { url } = gateway.simulators
    const channel = (id: string, settings: object) => {
      return { id, upstream: 'gemini', settings: { base_url: `${url}/google`, ...settings } }
    }
    const price = (unit: string, amount: string, when?: object) => {
      return { unit, per: 1_000_000, amount, ...(when ? { when } : {}) }
    }
    const tokens = {
      input_token: ['0.3', '0.54'],
      cached_input_token: ['0.03', '0.054'],
      audio_input_token: ['1', '1.8'],
      output_token: ['2.5', '4.5'],
      image_output_token: ['30', '54'],
    }
    const prices = [
      ...Object.entries(tokens).flatMap(([unit, [standard = '', fast = '']]) => [
        price(unit, fast, { service_tier: 'fast' }),
        price(unit, standard),
      ]),
      { unit: 'web_search_call', per: 1000, amount: '14' },
    ]
    const model = (id: string, upstream_model: string, ...channels: string[]) => ({
      id,
      type: 'chat',
      prices,
      routes: channels.map((one, priority) => ({ channel: one, upstream_model, priority })),
      limits: { max_input_tokens: 1_048_576, max_output_tokens: 65_536 },
    })
    await gateway.apply({
      currency: 'CNY',
      channels: [
        channel('keyed', { api_key: 'sim-google-key' }),
        channel('vertex', { service_account: serviceAccountOf(url), location: 'us-east5' }),
        channel('refused', { api_key: 'wrong' }),
      ],
      models: [
        model('two', 'sim-gemini-2.5', 'keyed'),
        model('three', 'sim-gemini-3', 'keyed'),
        model('four', 'sim-gemini-4', 'keyed'),
        model('vertex', 'sim-gemini-3', 'vertex'),
        model('refused', 'sim-gemini-3', 'refused', 'keyed'),
        model('gone', 'gemini-missing', 'keyed'),
      ],
    })
    key = (await gateway.tenant({ balance: '1000' })).key
  })
  after(() => gateway.stop())

  const chat = (model: string, content: unknown, more: object = {}) => {
    const body = { model, messages: [{ role: 'user', content }], ...more }
    return gateway.post('/v1/chat/completions', key, body)
  }
  const lastCall = () => {
    const calls = gateway.simulators.calls.list().filter((call) => call.operation === 'contents')
    const call = calls.at(-1)
    assert.ok(call)
    return { ...call, json: JSON.parse(Buffer.from(call.body_base64, 'base64').toString()) }
  }

  async function expectBooked(answer: TestAnswer, basis = 'usage'): Promise<void> {
    assert.equal(answer.status, 200, answer.text)
    await gateway.simulators.book.settled()
    const [entry] = gateway.simulators.book.entries().slice(-1)
    const record = await gateway.record(answer, key)
    const units = Object.fromEntries(record.lines.map(({ unit, quantity }) => [unit, quantity]))
    assert.deepEqual([entry?.vendor, units], ['google', entry?.units], answer.text)
    assert.equal(record.basis, basis)
    assert.ok(Number(record.held) >= Number(record.charged), `${record.held} ${record.charged}`)
  }

  for (const model of ['two', 'three', 'four', 'vertex']) {
    test(`${model}: the charge is the bill in every dialect, whole and as a stream`, async () => {
      for (const stream of [false, true]) {
        await expectBooked(await chat(model, SCRIPT, { stream, reasoning_effort: 'low' }))
        const message = { messages: [{ role: 'user', content: SCRIPT }], max_tokens: 900 }
        const thinking = { type: 'enabled', budget_tokens: 1_024 }
        const body = { model, stream, ...message, thinking }
        const answer = await gateway.post('/v1/messages', key, body, VERSION)
        await expectBooked(answer)
        assert.match(answer.text, /hm, hm/)
        await expectBooked(
          await gateway.post('/v1/responses', key, { model, stream, input: SCRIPT }),
        )
      }
      const path =
        model === 'vertex' ? /projects\/sim-project\/locations\/us-east5/ : /v1beta\/models/
      assert.match(lastCall().url, path)
      assert.match(lastCall().url, /:streamGenerateContent\?alt=sse$/)
      assert.equal(lastCall().headers.authorization !== undefined, model === 'vertex')
    })
  }

  test('media in are counted apart, and held at the dearest of their prices', async () => {
    const image_url = { url: 'data:image/png;base64,iVBORw0KGgo=' }
    await expectBooked(
      await chat('three', [
        { type: 'text', text: 'what is this?' },
        { type: 'image_url', image_url },
        { type: 'image_url', image_url: { url: 'https://pictures.example/a.webp' } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        { type: 'video_url', video_url: { url: MP4 } },
        { type: 'file', file: { filename: 'a.pdf', file_data: PDF } },
      ]),
    )
    const [content] = lastCall().json.contents
    assert.deepEqual(
      content.parts.slice(1).map((part: Record<string, { mimeType: string }>) => {
        return (part.inlineData ?? part.fileData)?.mimeType
      }),
      ['image/png', 'image/webp', 'audio/wav', 'video/mp4', 'application/pdf'],
    )
  })

  test('the channel’s own files and buckets cannot be named', async () => {
    const stored = 'https://generativelanguage.googleapis.com/v1beta/files/abc'
    for (const url of ['gs://bucket/a.png', stored, 'file:///etc/passwd', 'x']) {
      for (const model of ['three', 'vertex']) {
        const answer = await chat(model, [{ type: 'image_url', image_url: { url } }])
        assert.deepEqual([answer.status, answer.json.error.param], [400, 'messages[0].content[0]'])
      }
    }
  })

  test('the hold takes the dearest price of what may come', async () => {
    const held = async (content: unknown) => {
      const answer = await chat('three', content, { max_tokens: 1_000 })
      return Number((await gateway.record(answer, key)).held)
    }
    const file = (media: string) => [
      { type: 'file', file: { file_data: `data:${media};base64,${'A'.repeat(80_000)}` } },
    ]
    // Pictures at 30 a million, and 2,000 tokens of a document.
    assert.ok((await held('hi')) >= 1_000 * 30e-6)
    const [silent, sound] = [await held(file('application/pdf')), await held(file('audio/mp3'))]
    assert.ok(sound - silent >= 1_990 * (1e-6 - 0.3e-6), `${silent} ${sound}`)
  })

  test('a picture out is an image of the message, and billed as one', async () => {
    for (const stream of [false, true]) {
      const answer = await chat('three', 'draw', { stream, modalities: ['text', 'image'] })
      await expectBooked(answer)
      assert.match(answer.text, /"image_url":\{"url":"data:image\/png;base64,iVBOR/)
    }
    const asked = { model: 'three', max_tokens: 9_000 }
    const messages = [{ role: 'user', content: '[[fault:g_picture]] draw' }]
    const message = await gateway.post('/v1/messages', key, { ...asked, messages }, VERSION)
    await expectBooked(message)
    const [text, mark, image] = message.json.content
    assert.deepEqual([text.type, mark.type, image.type], ['text', 'thinking', 'image'])
    const next = [...messages, { role: 'assistant', content: message.json.content }]
    const again = [...next, { role: 'user', content: 'redder' }]
    await expectBooked(
      await gateway.post('/v1/messages', key, { ...asked, messages: again }, VERSION),
    )
    assert.match(lastCall().json.contents[1].parts[1].thoughtSignature, /^c2ln/)
    const body = { model: 'three', input: '[[fault:g_picture]] draw' }
    const response = await gateway.post('/v1/responses', key, body)
    await expectBooked(response)
    const drawn = response.json.output.find(
      ({ type }: { type: string }) => type === 'image_generation_call',
    )
    assert.match(drawn.result, /^iVBOR/)
  })

  test('a search is billed by its different queries, and cited in every dialect', async () => {
    const said = '[[say:Die Donau fließt.]] how long?'
    for (const stream of [false, true]) {
      const answer = await chat('three', said, { stream, web_search_options: {} })
      await expectBooked(answer)
      assert.match(answer.text, /"url_citation","url_citation":\{"start_index":0,"end_index":17/)
    }
    const record = await gateway.record(await chat('three', said, { web_search_options: {} }), key)
    assert.equal(record.lines.find(({ unit }) => unit === 'web_search_call')?.quantity, 2)
    await expectBooked(await chat('two', said, { web_search_options: {} }))
    const tools = [{ type: 'web_search_20250305', name: 'web_search' }]
    const message = {
      model: 'three',
      max_tokens: 500,
      tools,
      messages: [{ role: 'user', content: said }],
    }
    const messages = await gateway.post('/v1/messages', key, message, VERSION)
    await expectBooked(messages)
    assert.equal(messages.json.content[0].citations[0].url, 'https://rivers.example/a')
    assert.equal(messages.json.usage.server_tool_use.web_search_requests, 2)
    const body = { model: 'three', input: said, tools: [{ type: 'web_search' }] }
    const response = await gateway.post('/v1/responses', key, body)
    await expectBooked(response)
    assert.match(response.text, /"type":"url_citation"[^}]*"url":"https:\/\/rivers.example\/a"/)
    assert.match(response.text, /"type":"web_search_call"/)
  })

  test('a work that an answer quotes is cited in every dialect', async () => {
    const said = '[[fault:g_quotes]] [[say:Die Donau fließt.]] write'
    for (const stream of [false, true]) {
      const answer = await chat('three', said, { stream })
      await expectBooked(answer)
      assert.match(answer.text, /"start_index":0,"end_index":17,"url":"https:\/\/code.example\/b"/)
    }
    const body = { model: 'three', input: said }
    const response = await gateway.post('/v1/responses', key, body)
    assert.match(response.text, /"url_citation"[^}]*"end_index":17[^}]*"license":"mit"/)
    const messages = [{ role: 'user', content: said }]
    const message = { model: 'three', max_tokens: 500, messages }
    const answer = await gateway.post('/v1/messages', key, message, VERSION)
    assert.equal(answer.json.content[0].citations[0].url, 'https://code.example/b')
  })

  test('what newer models refuse is left out and named', async () => {
    const more = {
      temperature: 1,
      presence_penalty: 1,
      reasoning_effort: 'minimal',
      max_tokens: 90_000,
    }
    const answer = await chat('four', SCRIPT, more)
    await expectBooked(answer)
    assert.equal(
      answer.headers.get('x-tributary-ignored'),
      'temperature, presence_penalty, reasoning_effort=minimal',
    )
    assert.deepEqual(lastCall().json.generationConfig, {
      maxOutputTokens: 32_768,
      thinkingConfig: { includeThoughts: true, thinkingLevel: 'LOW' },
    })
    const messages = [
      { role: 'user', content: SCRIPT },
      { role: 'assistant', content: 'It goes' },
    ]
    const begun = { model: 'four', messages, max_tokens: 300 }
    const prefilled = await gateway.post('/v1/messages', key, begun, VERSION)
    await expectBooked(prefilled)
    assert.equal(prefilled.headers.get('x-tributary-ignored'), 'prefill')
    const two = await chat('two', SCRIPT, { temperature: 1, reasoning_effort: 'minimal' })
    assert.equal(two.headers.get('x-tributary-ignored'), null)
    assert.equal(lastCall().json.generationConfig.thinkingConfig.thinkingBudget, 512)
  })

  test('a form of the answer is a schema, beside tools of older models an instruction', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    const response_format = { type: 'json_schema', json_schema: { name: 'a', schema } }
    const tools = [{ type: 'function', function: { name: 'f', parameters: schema } }]
    for (const [model, more] of [
      ['two', {}],
      ['three', { tools }],
    ] as const) {
      await expectBooked(await chat(model, SCRIPT, { response_format, ...more }))
      assert.deepEqual(lastCall().json.generationConfig.responseJsonSchema, schema)
    }
    await expectBooked(await chat('two', SCRIPT, { response_format, tools }))
    assert.match(lastCall().json.systemInstruction.parts[0].text, /one JSON value.*schema/s)
  })

  for (const [name, odd] of [
    ['thoughts inside of candidates', 'g_inclusive'],
    ['a total that lies', 'g_totallies'],
    ['no total', 'g_nototal'],
    ['usage alone, at the end', 'g_usagelast'],
    ['the traffic alone, until the end', 'g_traffic'],
    ['an empty piece with STOP at the beginning', 'g_emptystop'],
    ['the reason alone', 'g_latefinish'],
    ['a tool that brought tokens', 'g_tooluse'],
    ['an answer that goes on', 'g_continuation'],
    ['a prompt that the last piece corrects', 'g_early'],
    ['counts that shrink', 'usage=shrinking'],
    ['usage by the way', 'g_marklast'],
  ] as const) {
    test(`the charge is the bill: ${name}`, async () => {
      for (const stream of [false, true]) {
        if (odd === 'usage=shrinking' && stream) continue
        await expectBooked(await chat('three', `[[fault:${odd}]] ${SCRIPT}`, { stream }))
      }
    })
  }

  test('an answer without usage is estimated; a picture without it is for review', async () => {
    for (const stream of [false, true]) {
      const answer = await chat('three', `[[fault:usage=absent]] ${SCRIPT}`, { stream })
      assert.equal((await gateway.record(answer, key)).basis, 'estimate')
    }
    const drawn = await chat('three', '[[fault:usage=absent;g_picture]] draw', {
      max_tokens: 2_000,
    })
    const { held, charged, review } = await gateway.record(drawn, key)
    assert.deepEqual([charged, review], [held, true])
  })

  test('a served tier has its own price', async () => {
    const answer = await chat('three', `[[fault:g_fast]] ${SCRIPT}`, { service_tier: 'priority' })
    const { lines } = await gateway.record(answer, key)
    const output = lines.find(({ unit }) => unit === 'output_token')
    assert.equal(Number(output?.amount), (output?.quantity ?? 0) * 4.5e-6)
    assert.equal(lastCall().json.serviceTier, 'priority')
    await chat('vertex', SCRIPT, { service_tier: 'priority' })
    assert.equal(lastCall().headers['x-vertex-ai-llm-shared-request-type'], 'priority')
  })

  test('a blocked prompt is a refusal with its reason, and its prompt is billed', async () => {
    for (const stream of [false, true]) {
      const answer = await chat('three', `[[fault:g_blocked]] ${SCRIPT}`, { stream })
      await expectBooked(answer)
      assert.match(answer.text, /The prompt was blocked: PROHIBITED_CONTENT/)
      assert.match(answer.text, /"finish_reason":"content_filter"/)
    }
    const said = `[[fault:g_recitation]] ${SCRIPT}`
    const body = { model: 'three', max_tokens: 300, messages: [{ role: 'user', content: said }] }
    const message = await gateway.post('/v1/messages', key, body, VERSION)
    await expectBooked(message)
    assert.equal(message.json.stop_reason, 'refusal')
    assert.match(message.text, /The answer was stopped: RECITATION/)
  })

  test('a call that the model got wrong is an error, never an empty answer', async () => {
    for (const odd of ['g_malformed', 'g_unknownend']) {
      const whole = await chat('three', `[[fault:${odd}]] ${SCRIPT}`)
      assert.equal(whole.status, 502)
      const stream = await chat('three', `[[fault:${odd}]] ${SCRIPT}`, { stream: true })
      assert.match(stream.text, /MALFORMED_FUNCTION_CALL: no such call|TIDAL_WAVE/)
      assert.doesNotMatch(stream.text, /\[DONE\]/)
      await expectBooked(stream)
    }
  })

  test('a stream that is cut is charged for what was stated until then', async () => {
    const answer = await chat('three', '[[fault:reset-mid=5]] [[tokens:60]]', { stream: true })
    assert.match(answer.text, /data: \{"error":/)
    const { lines, basis } = await gateway.record(answer, key)
    assert.equal(basis, 'usage')
    assert.equal(lines.find(({ unit }) => unit === 'output_token')?.quantity, 5)
  })

  test('a bad key is the channel’s fault: the next route serves', async () => {
    const answer = await chat('refused', SCRIPT)
    await expectBooked(answer)
    const { attempts } = await gateway.record(answer, key)
    assert.deepEqual(
      attempts.map(({ outcome }) => outcome),
      ['channel_fault', 'answered'],
    )
  })

  for (const [status, code, answered, outcome] of [
    [400, 'INVALID_ARGUMENT', 400, 'rejected'],
    [400, 'API_KEY_INVALID', 502, 'channel_fault'],
    [400, 'FAILED_PRECONDITION', 502, 'channel_fault'],
    [403, 'PERMISSION_DENIED', 502, 'channel_fault'],
    [429, 'RESOURCE_EXHAUSTED', 429, 'busy'],
    [429, 'per-day', 502, 'channel_fault'],
    [500, 'INTERNAL', 502, 'failed'],
    [503, 'UNAVAILABLE', 502, 'busy'],
    [504, 'DEADLINE_EXCEEDED', 502, 'unknown'],
  ] as const) {
    test(`${status} ${code} is ${outcome}`, async () => {
      const fault = `[[fault:status=${status};error-code=${code}]]`
      const answer = await chat('three', fault, { stream: true })
      assert.equal(answer.status, answered, answer.text)
      const { charged, attempts } = await gateway.record(answer, key)
      assert.deepEqual([charged, attempts[0]?.outcome], ['0', outcome])
    })
  }

  test('an unknown model is the channel’s fault, a conversation too long the caller’s', async () => {
    const gone = await chat('gone', 'hi')
    assert.equal((await gateway.record(gone, key)).attempts[0]?.outcome, 'channel_fault')
    const words =
      'The input token count (1050000) exceeds the maximum number of tokens allowed (1048576).'
    const fault = `[[fault:status=400;error-message=${words}]]`
    const long = await chat('three', fault)
    assert.deepEqual([long.status, long.json.error.code], [400, 'context_length_exceeded'])
    const body = { model: 'three', max_tokens: 9, messages: [{ role: 'user', content: fault }] }
    const message = await gateway.post('/v1/messages', key, body, VERSION)
    assert.match(message.json.error.message, /prompt is too long/)
  })
})
