/** Google's own paths over a channel that speaks its format: bytes pass, and the charge is the bill. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { serviceAccountOf } from '../../../../simulators/google/tokens.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../../../support/in-process.ts'

const PATH = '/v1beta/models'
const SCRIPT = '[[reason:hm]] [[cached:40]] [[say:the river]] where to? '.padEnd(400, 'x')
const asked = (text: string) => [{ role: 'user', parts: [{ text }] }]

describe('paths of Google', () => {
  let gateway: TestGateway
  let key: string
  before(async () => {
    gateway = await startTestGateway()
    const { url } = gateway.simulators
    const price = (unit: string, amount: string, per = 1_000_000) => ({ unit, per, amount })
    const tokens = [
      price('input_token', '0.3'),
      price('cached_input_token', '0.03'),
      price('audio_input_token', '1'),
      price('output_token', '2.5'),
    ]
    const model = (id: string, upstream_model: string, channel: string, more: object = {}) => ({
      id,
      type: 'chat',
      prices: tokens,
      limits: { max_output_tokens: 4_096 },
      routes: [{ channel, upstream_model }],
      ...more,
    })
    const openai = { base_url: `${url}/openai/v1`, api_key: 'sim-openai-key' }
    const base_url = `${url}/google`
    await gateway.apply({
      currency: 'CNY',
      channels: [
        { id: 'g', upstream: 'gemini', settings: { base_url, api_key: 'sim-google-key' } },
        {
          id: 'v',
          upstream: 'gemini',
          settings: { base_url, service_account: serviceAccountOf(url) },
        },
        { id: 'o', upstream: 'openai-compatible', settings: openai },
      ],
      models: [
        model('three', 'sim-gemini-3', 'g'),
        model('vertex', 'sim-gemini-3', 'v'),
        model('a/b', 'sim-gemini-3', 'g'),
        model('search', 'sim-gemini-3', 'g', {
          prices: [...tokens, price('web_search_call', '14', 1_000)],
        }),
        model('other', 'sim-chat', 'o'),
        model('embed', 'sim-gemini-embedding', 'g', {
          type: 'embedding',
          prices: [price('input_token', '0.2')],
          limits: {},
        }),
      ],
    })
    key = (await gateway.tenant({ balance: '1000' })).key
  })
  after(() => gateway.stop())

  const send = async (path: string, options: RequestInit): Promise<TestAnswer> => {
    const answer = await gateway.fetch(path, options)
    const text = await answer.text()
    const isJson = /^[[{]/.test(text) && !text.startsWith('data:')
    const { status, headers } = answer
    return { status, headers, text, json: isJson ? JSON.parse(text) : undefined }
  }
  const ask = (path: string, body: object, headers: object = { 'x-goog-api-key': key }) => {
    const type = { 'content-type': 'application/json' }
    const options = { headers: { ...type, ...headers }, body: JSON.stringify(body) }
    return send(`${PATH}/${path}`, { method: 'POST', ...options })
  }
  const lastCall = () => {
    const call = gateway.simulators.calls.list().at(-1)
    assert.ok(call)
    return { ...call, text: Buffer.from(call.body_base64, 'base64').toString() }
  }

  test('the list on the path of all vendors is Google’s for its client, by the key in its header', async () => {
    const named = { headers: { 'x-goog-api-key': key } }
    const { status, json } = await send('/v1/models?pageSize=1', named)
    assert.deepEqual([status, json.models.length], [200, 1], JSON.stringify(json))
    const one = await send('/v1/models/a/b', named)
    assert.deepEqual([one.status, one.json.name], [200, 'models/a/b'], one.text)
    assert.equal((await send('/v1/models/other', named)).status, 404)
    const ours = await gateway.get('/v1/models', key)
    assert.ok(ours.json.data.some(({ id }: { id: string }) => id === 'other'))
    const wrong = { headers: { 'x-goog-api-key': 'tr-wrong' } }
    assert.equal((await send('/v1/models', wrong)).status, 401)
    const both = { headers: { authorization: `Bearer ${key}`, 'x-goog-api-key': key } }
    assert.equal((await send('/v1/files', both)).status, 200)
    const list = await send('/v1/models', both)
    assert.deepEqual([list.status, list.json.object], [200, 'list'], list.text)
  })

  async function expectBooked(answer: TestAnswer, basis = 'usage'): Promise<void> {
    assert.equal(answer.status, 200, answer.text)
    await gateway.simulators.book.settled()
    const [entry] = gateway.simulators.book.entries().slice(-1)
    const record = await gateway.record(answer, key)
    const units = Object.fromEntries(record.lines.map(({ unit, quantity }) => [unit, quantity]))
    assert.deepEqual([entry?.vendor, units], ['google', entry?.units], answer.text)
    assert.equal(record.basis, basis)
  }

  test('the key goes into a header, the query or Authorization', async () => {
    const body = { contents: asked('hi') }
    for (const headers of [{ 'x-goog-api-key': key }, { authorization: `Bearer ${key}` }]) {
      await expectBooked(await ask('three:generateContent', body, headers))
    }
    await expectBooked(await ask(`three:generateContent?key=${key}`, body, {}))
    assert.ok(!lastCall().url.includes(key))
    const refused = await ask('three:generateContent?key=wrong', body, {})
    assert.deepEqual([refused.status, refused.json.error.status], [401, 'UNAUTHENTICATED'])
    const other = { authorization: `Bearer ${key}`, 'x-goog-api-key': 'of-another' }
    assert.equal((await ask('three:generateContent', body, other)).status, 401)
    assert.equal((await ask(`three:generateContent?key=of-another`, body)).status, 401)
    // Elsewhere the query names no key.
    const elsewhere = await send(`/v1/models?key=${key}`, {})
    assert.equal(elsewhere.status, 401)
  })

  test('an answer passes as it is, whole, as events and as a list', async () => {
    const body = {
      contents: asked(SCRIPT),
      generationConfig: { maxOutputTokens: 300, thinkingConfig: { includeThoughts: true } },
    }
    for (const model of ['three', 'vertex', 'a%2Fb']) {
      const whole = await ask(`${model}:generateContent`, body)
      await expectBooked(whole)
      assert.equal(whole.json.candidates[0].content.parts[1].text, 'the river')
      assert.deepEqual(JSON.parse(lastCall().text), body)
      const events = await ask(`${model}:streamGenerateContent?alt=sse`, body)
      await expectBooked(events)
      const pieces = events.text.split('\r\n\r\n').filter(Boolean)
      assert.ok(pieces.length > 1 && pieces.every((piece) => piece.startsWith('data: {')))
      const list = await ask(`${model}:streamGenerateContent`, body)
      await expectBooked(list)
      assert.match(list.headers.get('content-type') ?? '', /^application\/json/)
      assert.equal(list.json.length, pieces.length)
      assert.equal(list.json.at(-1).candidates[0].finishReason, 'STOP')
    }
  })

  for (const odd of ['g_malformed', 'g_unknownend', 'g_blocked', 'g_continuation', 'g_usagelast']) {
    test(`clients get ends of their own format unchanged: ${odd}`, async () => {
      const body = { contents: asked(`[[fault:${odd}]] ${SCRIPT}`) }
      for (const method of ['generateContent', 'streamGenerateContent?alt=sse']) {
        const answer = await ask(`three:${method}`, body)
        await expectBooked(answer)
        assert.doesNotMatch(answer.text, /"error"/)
      }
    })
  }

  test('an answer goes on: what it wrote is billed as input that no body has', async () => {
    const body = { contents: asked('[[fault:g_continuation]] [[tokens:30]]') }
    for (const method of ['generateContent', 'streamGenerateContent']) {
      const first = [(await ask(`three:${method}`, body)).json].flat().at(-1)
      assert.equal(first.candidates[0].continuationToken, 'next-30')
      for (const tokens of [30, 200_000]) {
        const next = await ask(`three:${method}`, { ...body, continuationToken: `next-${tokens}` })
        await expectBooked(next)
        const { candidates, usageMetadata } = [next.json].flat().at(-1)
        const before = first.usageMetadata.promptTokenCount
        assert.equal(usageMetadata.promptTokenCount, before + tokens)
        assert.equal(candidates[0].finishReason, 'STOP')
      }
    }
  })

  test('a stream that breaks off ends with an error that clients find', async () => {
    const body = { contents: asked('[[fault:reset-mid=5]] [[tokens:60]]') }
    const events = await ask('three:streamGenerateContent?alt=sse', body)
    const last = events.text.trimEnd().split('\r\n\r\n').at(-1) ?? ''
    assert.equal(JSON.parse(last).error.code, 500)
    const { lines, basis } = await gateway.record(events, key)
    assert.deepEqual(
      [basis, lines.find(({ unit }) => unit === 'output_token')?.quantity],
      ['usage', 5],
    )
    const list = await ask('three:streamGenerateContent', body)
    assert.equal(list.json.at(-1).error.status, 'INTERNAL')
    const refused = { contents: asked('[[fault:error-mid=event;at=0]] hi') }
    const overloaded = await ask('three:streamGenerateContent?alt=sse', refused)
    assert.equal(overloaded.status, 502)
    assert.equal(overloaded.json.error.status, 'UNAVAILABLE')
  })

  test('names with underscores are read too, and no name twice', async () => {
    const inline_data = { mime_type: 'audio/wav', data: 'AAAA' }
    const contents = [{ role: 'user', parts: [{ inline_data }, { text: 'what is it?' }] }]
    const held = async (tokens: number) => {
      const generation_config = { max_output_tokens: tokens }
      const answer = await ask('three:generateContent', { contents, generation_config })
      return answer.status
    }
    // The simulator, unlike the vendor, knows the names in camel case alone.
    assert.equal(await held(100), 400)
    const twice = { contents: asked('hi'), generationConfig: {}, generation_config: {} }
    const refused = await ask('three:generateContent', twice)
    assert.match(refused.json.error.message, /generationConfig: appears twice/)
  })

  test('what has no price is refused before it is sent, in any spelling', async () => {
    const contents = asked('hi')
    const before = gateway.simulators.calls.list().length
    for (const more of [
      { tools: [{ googleSearch: {} }] },
      { tools: [{ google_search: {} }] },
      { tools: { googleSearch: {} } },
      { tools: [{ functionDeclarations: [], googleMaps: {} }] },
      { generationConfig: { responseModalities: ['IMAGE'] } },
      { serviceTier: 'priority' },
      // The vendor reads words by their numbers, and counts as texts.
      { generationConfig: { responseModalities: [3] } },
      { generation_config: { response_modalities: 3 } },
      { generationConfig: { candidateCount: '8' } },
      { generationConfig: { maxOutputTokens: ['65536'] } },
      { serviceTier: 3 },
      { service_tier: ['priority'] },
      { cachedContent: 'cachedContents/1' },
      { contents: [{ parts: [{ fileData: { fileUri: 'gs://bucket/a' } }] }] },
      { contents: [{ parts: { file_data: { file_uri: 'files/abc' } } }] },
    ]) {
      const answer = await ask('three:generateContent', { contents, ...more })
      assert.deepEqual(
        [answer.status, answer.json.error.status],
        [400, 'INVALID_ARGUMENT'],
        answer.text,
      )
    }
    assert.equal(gateway.simulators.calls.list().length, before)
    const tools = [{ googleSearch: {} }]
    await expectBooked(await ask('search:generateContent', { contents: asked(SCRIPT), tools }))
  })

  test('a model of another channel, and one that nobody has, are refused in words', async () => {
    const other = await ask('other:generateContent', { contents: asked('hi') })
    assert.equal(other.status, 400)
    assert.match(other.json.error.message, /not available on this path/)
    const first = await send('/v1/models/three:generateContent', {
      method: 'POST',
      headers: { 'x-goog-api-key': key },
      body: JSON.stringify({ contents: asked('hi') }),
    })
    assert.equal(first.status, 200)
    const none = await ask('none:generateContent', { contents: asked('hi') })
    assert.equal(none.json.error.status, 'NOT_FOUND')
    const shape = await ask('three:generateContent', {})
    assert.match(shape.json.error.message, /^contents: /)
  })

  test('embeddings are charged by their tokens, counted where none are stated', async () => {
    const content = { parts: [{ text: '[[fault:g_usage]] the river and the sea' }] }
    const requests = [{ model: 'models/embed', content }, { content }]
    await expectBooked(await ask('embed:embedContent', { content, outputDimensionality: 2 }))
    const batch = await ask('embed:batchEmbedContents', { requests })
    await expectBooked(batch)
    assert.equal(batch.json.embeddings.length, 2)
    const picture = { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] }
    for (const [method, body] of [
      ['embedContent', { content: picture }],
      ['embedContent', { content, requests: [{ content: picture }] }],
      ['batchEmbedContents', { requests: [{ content }, { content: picture }] }],
    ] as const) {
      const refused = await ask(`embed:${method}`, body)
      assert.equal(refused.status, 400)
      assert.match(refused.json.error.message, /parts\[0\]\.text/)
    }
    for (const name of ['inlineData', 'inline_data', 'fileData']) {
      const part = { text: 'a', [name]: { mimeType: 'image/png', data: 'AAAA' } }
      const refused = await ask('embed:embedContent', { content: { parts: [part] } })
      assert.equal(refused.status, 400)
      assert.match(refused.json.error.message, new RegExp(`parts\\[0\\]\\.${name}: unknown field`))
    }
    const unstated = await ask('embed:embedContent', { content: { parts: [{ text: 'a b c' }] } })
    const { basis, charged, held } = await gateway.record(unstated, key)
    assert.equal(basis, 'estimate')
    assert.ok(Number(charged) > 0 && Number(charged) <= Number(held))
  })

  test('tokens are counted free of charge', async () => {
    const counted = await ask('three:countTokens', { contents: asked('the river and the sea') })
    assert.ok(counted.json.totalTokens >= 5)
    const inner = { generateContentRequest: { model: 'models/three', contents: asked('hi') } }
    assert.equal((await ask('three:countTokens', inner)).status, 200)
    assert.equal((await ask('three:countTokens', {})).json.error.code, 400)
  })

  test('the list has the models of these paths, in pages', async () => {
    const headers = { 'x-goog-api-key': key }
    const get = (path: string) => send(`${PATH}${path}`, { headers })
    const names: string[] = []
    let token = ''
    do {
      const { json } = await get(`?pageSize=2&pageToken=${encodeURIComponent(token)}`)
      names.push(...json.models.map(({ name }: { name: string }) => name))
      token = json.nextPageToken ?? ''
    } while (token !== '')
    const expected = ['a/b', 'embed', 'search', 'three', 'vertex'].map((id) => `models/${id}`)
    const own = names.filter((name) => !name.includes('/sim-'))
    assert.deepEqual(own.toSorted(), expected)
    const { json } = await get('/embed')
    assert.deepEqual(json.supportedGenerationMethods, ['embedContent', 'batchEmbedContents'])
    assert.equal((await get('/other')).status, 404)
    assert.equal((await get('?pageSize=0')).status, 400)
  })
})
