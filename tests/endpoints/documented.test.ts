/** Documented statements of the API that no test of one endpoint holds, black box. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { dataLines } from '../simulators/support.ts'
import { startTestGateway, type Tenant, type TestGateway } from '../support/in-process.ts'
import { until } from '../support/until.ts'
import { QUICK } from '../tasks/stage.ts'
import { startReceiver } from '../webhooks/support.ts'

const SPEECH = '/v1/audio/speech/unidirectional'
const MINUTES = '/v1/audio/minutes'
const VIDEO = '/v1/videos/generations'
const CONTENTS = '/v1/contents/generations/tasks'
const VERSION = { 'vendor-version': '2023-06-01' }
const SLOW = '[[fault:queue-time=600000]]'
const BRIEF = '[[fault:queue-time=20;run-time=20]]'

describe('documented statements', () => {
  let gateway: TestGateway
  let tenant: Tenant

  before(async () => {
    gateway = await startTestGateway({ ...QUICK, ALLOW_PRIVATE_TARGETS: 'true' })
    tenant = await gateway.tenant({ balance: '1000' })
  })
  after(() => gateway.stop())

  const post = (path: string, body: object, headers: object = {}) =>
    gateway.post(path, tenant.key, body, headers)
  /** The latest call that a vendor got for an operation. */
  function received(operation: string) {
    const call = gateway.simulators.calls.list().findLast((one) => one.operation === operation)
    assert.ok(call, `no call of ${operation}`)
    const text = Buffer.from(call.body_base64, 'base64').toString()
    return { text, json: JSON.parse(text), headers: call.headers }
  }
  const video = (more: object = {}, words = SLOW) => ({
    model: 'doubao-seedance-2-0-260128',
    content: [{ type: 'text', text: `a river ${words}` }],
    ...more,
  })
  const speech = { req_params: { text: '河，。', speaker: 'zh_female_vv_uranus_bigtts' } }
  const recording = (words = 'media-seconds=20;queue-time=600000') => ({
    file_url: `https://media.example/meeting.mp3?x=[[fault:${words}]]`,
  })

  test('speech: the body reaches the vendor as it was sent, with the channel’s key', async () => {
    const body = `{ "req_params" : ${JSON.stringify({ ...speech.req_params, audio_params: {} })} }`
    const response = await gateway.fetch(`${SPEECH}?model=seed-tts-2.0`, {
      method: 'POST',
      headers: { 'x-api-key': tenant.key, 'content-type': 'application/json' },
      body,
    })
    assert.equal(response.status, 200, await response.text())
    const call = gateway.simulators.calls.list().findLast(({ url }) => url.includes('tts'))
    assert.equal(Buffer.from(call?.body_base64 ?? '', 'base64').toString(), body)
    assert.equal(call?.headers['x-api-key'], 'sim-speech-key')
    assert.ok(!JSON.stringify(call?.raw_headers).includes(tenant.key))
  })

  test('speech: fragments are base64, the end has its code, punctuation is billed', async () => {
    const answer = await post(`${SPEECH}?model=seed-tts-2.0`, speech)
    const objects = answer.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const fragments = objects.map(({ data }) => data).filter(Boolean)
    assert.ok(fragments.length > 0, 'there is audio')
    for (const data of fragments) {
      assert.equal(Buffer.from(data, 'base64').toString('base64'), data)
    }
    assert.equal(objects.at(-1).code, 20000000)
    const record = await gateway.record(answer, tenant.key)
    assert.deepEqual(
      record.lines.map(({ quantity }) => quantity),
      [3],
    )
  })

  test('models are listed by the type of each endpoint', async () => {
    for (const [type, id] of [
      ['search', 'vendor-web-search'],
      ['video', 'doubao-seedance-2-0-260128'],
      ['ast', 'sim-interpretation'],
      ['minutes', 'vendor-minutes'],
    ] as const) {
      const { json } = await gateway.get(`/v1/models?type=${type}`, tenant.key)
      const found = json.data.find((one: { id: string }) => one.id === id)
      assert.equal(found?.model_type, type)
      assert.ok(json.data.every((one: { model_type: string }) => one.model_type === type))
    }
  })

  test('search: a failed call is not charged, a good one is charged once', async () => {
    const failed = await post('/v1/search', { Type: 'web', Query: '[[fault:status=500]]' })
    assert.equal(failed.status, 502)
    assert.equal((await gateway.record(failed, tenant.key)).charged, '0')
    const good = await post('/v1/search', { Type: 'web', Query: 'rivers', SearchType: 'web' })
    const { lines, charged } = await gateway.record(good, tenant.key)
    assert.deepEqual(
      lines.map(({ unit, quantity }) => [unit, quantity]),
      [['call', 1]],
    )
    assert.notEqual(charged, '0')
  })

  test('minutes: defaults of the language, the speakers and their number', async () => {
    const features = { summary: true }
    const sent = await post(MINUTES, { model: 'vendor-minutes', ...recording(), features })
    assert.equal(sent.status, 200, sent.text)
    const { Params, Input } = received('minutes.submit').json
    assert.deepEqual([Params.SourceLang, Params.AllActivate], ['zh_cn', false])
    assert.equal(Params.AudioTranscriptionEnable, true)
    const { SpeakerIdentification, NumberOfSpeaker } = Params.AudioTranscriptionParams
    assert.deepEqual([SpeakerIdentification, NumberOfSpeaker], [true, 0])
    assert.equal(Input.Offline.FileType, 'audio')
  })

  test('minutes: the type of the file follows from its suffix unless it is named', async () => {
    for (const [suffix, named, expected] of [
      ['mp4', undefined, 'video'],
      ['wav', undefined, 'audio'],
      ['wav', 'video', 'video'],
    ]) {
      const url = recording().file_url.replace('.mp3', `.${suffix}`)
      const body = { model: 'vendor-minutes', all_activate: true, file_url: url, file_type: named }
      const sent = await post(MINUTES, body)
      assert.equal(sent.status, 200, sent.text)
      assert.equal(received('minutes.submit').json.Input.Offline.FileType, expected)
    }
  })

  test('minutes: service-minutes ignores the abilities, and always separates speakers', async () => {
    const body = {
      model: 'service-minutes',
      ...recording(),
      all_activate: false,
      features: {},
      speaker_identification: false,
    }
    const sent = await post(MINUTES, body)
    assert.equal(sent.status, 200, sent.text)
    const submitted = received('recognition.submit').json
    assert.equal(submitted.request.enable_speaker_info, true)
  })

  test('minutes: funds are held at submission', async () => {
    const own = await gateway.tenant({ balance: '100' })
    const body = { model: 'vendor-minutes', all_activate: true, ...recording() }
    assert.equal((await gateway.post(MINUTES, own.key, body)).json.status, 'processing')
    assert.ok((await gateway.balance(own.accountId)).held > 0n)
  })

  test('video: both paths take the same request, hold the same and name the same id', async () => {
    const held = async (path: string) => {
      const own = await gateway.tenant({ balance: '100' })
      const sent = await gateway.post(path, own.key, video())
      assert.equal(sent.status, 200, sent.text)
      return [(await gateway.balance(own.accountId)).held, sent.json] as const
    }
    const [ours, wrapped] = await held(VIDEO)
    const [theirs, native] = await held(CONTENTS)
    assert.equal(ours, theirs)
    assert.ok(wrapped.upstream_id.startsWith('cgt-') && wrapped.id !== wrapped.upstream_id)
    assert.ok(native.id.startsWith('cgt-') && native.upstream_id === undefined)
  })

  test('video: every documented resolution and ratio is taken by a model', async () => {
    for (const resolution of ['480p', '720p', '1080p', '768P', '2K']) {
      const isOther = /[PK]$/.test(resolution)
      const model = isOther ? 'MiniMax-H3' : 'doubao-seedance-2-0-260128'
      const sent = await post(VIDEO, video({ model, resolution }))
      assert.equal(sent.status, 200, `${resolution}: ${sent.text}`)
    }
    for (const ratio of ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive']) {
      const sent = await post(VIDEO, video({ ratio }))
      assert.equal(sent.status, 200, `${ratio}: ${sent.text}`)
    }
  })

  test('video: a prompt longer than recommended is taken', async () => {
    const content = [{ type: 'text', text: `${'河'.repeat(600)} ${SLOW}` }]
    assert.equal((await post(VIDEO, video({ content }))).status, 200)
  })

  test('video: the webhook of a failure has its code and message', async (t) => {
    const receiver = await startReceiver(t)
    const words = '[[fault:queue-time=20;run-time=20;fail-task=InternalError]]'
    const sent = await post(VIDEO, video({ callback_url: receiver.url }, words))
    assert.equal(sent.status, 200, sent.text)
    const request = await until('the webhook', () => receiver.received[0])
    const payload = JSON.parse(request.body.toString())
    const { error, created_at: created, finished_at: finished, ...rest } = payload
    const { id, model } = sent.json
    const charge = { charged: '0', currency: 'CNY' }
    assert.deepEqual(rest, { task_id: id, status: 'failed', model, ...charge })
    assert.equal(error.code, 'task_failed')
    assert.equal(typeof error.message, 'string')
    for (const time of [created, finished]) assert.match(time, /^\d{4}-\d\d-\d\dT.*Z$/)
    assert.match(String(request.headers['x-service-signature']), /^sha256=[0-9a-f]{64}$/)
    assert.ok(Math.abs(Number(request.headers['x-service-timestamp']) - Date.now() / 1000) < 60)
  })

  test('video: the result is readable whatever became of its webhook', async (t) => {
    const receiver = await startReceiver(t, (response) => response.writeHead(500).end())
    const sent = await post(VIDEO, video({ callback_url: receiver.url }, BRIEF))
    await until('the failed attempt', () => receiver.received[0])
    const { json } = await gateway.get(`${VIDEO}/${sent.json.id}`, tenant.key)
    assert.equal(json.status, 'succeeded')
    assert.match(json.video_url, /^https?:/)
  })

  test('images: the status of a task has 401, 404 and 429', async () => {
    const own = await gateway.tenant({ key: { limits: { requests_per_minute: 2 } } })
    const path = '/v1/images/async/task_0000000000000000000000'
    assert.equal((await gateway.get(path, 'tr-nobody')).status, 401)
    const statuses: number[] = []
    for (let count = 0; count < 3; count += 1) {
      statuses.push((await gateway.get(path, own.key)).status)
    }
    assert.deepEqual(statuses, [404, 404, 429])
  })

  test('responses: a text or items as input, and max_output_tokens as the limit', async () => {
    const items = [{ role: 'user', content: [{ type: 'input_text', text: '[[tokens:50]]' }] }]
    for (const input of ['[[tokens:50]]', items]) {
      const body = { model: 'sim-chat', input, max_output_tokens: 16 }
      const { status, json, text } = await post('/v1/responses', body)
      assert.equal(status, 200, text)
      const { input_tokens: read, output_tokens: written, total_tokens: total } = json.usage
      assert.ok(written <= 16)
      assert.equal(total, read + written)
      assert.equal(json.object, 'response')
    }
  })

  test('responses: a stream ends in response.completed, which has the usage', async () => {
    const body = { model: 'sim-chat', input: 'hello', stream: true }
    const { text, headers } = await post('/v1/responses', body)
    assert.match(headers.get('content-type') ?? '', /^text\/event-stream/)
    const last = dataLines(text).at(-1)
    assert.equal(String(last?.type), 'response.completed')
    const { usage } = (last?.response ?? {}) as { usage?: { total_tokens?: unknown } }
    assert.equal(typeof usage?.total_tokens, 'number')
  })

  test('messages: the named events of a stream, in order', async () => {
    for (const model of ['sim-chat', 'sim-claude']) {
      const body = {
        model,
        max_tokens: 100,
        stream: true,
        messages: [{ role: 'user', content: 'hello' }],
      }
      const { text } = await post('/v1/messages', body, VERSION)
      const names = [...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name)
      const order = names.filter((name, at) => name !== 'ping' && name !== names[at - 1])
      assert.deepEqual(order, [
        'message_start',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'message_stop',
      ])
    }
  })

  test('every documented endpoint exists and wants a key', async () => {
    for (const [method, path] of [
      ['GET', '/v1/models'],
      ['POST', '/v1/files'],
      ['POST', '/v1/images/async'],
      ['GET', '/v1/images/async/x'],
      ['POST', MINUTES],
      ['GET', `${MINUTES}/x`],
      ['POST', VIDEO],
      ['GET', `${VIDEO}/x`],
      ['POST', '/v1/videos/erase-subtitle'],
      ['GET', '/v1/videos/erase-subtitle/x'],
      ['POST', '/v1/chat/completions'],
      ['POST', '/v1/audio/speech'],
      ['POST', '/v1/audio/translations'],
      ['POST', '/v1/search'],
      ['POST', '/v1/responses'],
      ['POST', '/v1/messages'],
      ['POST', SPEECH],
      ...['/api/v3', '/v3', '/api/v1', '/v1'].map(
        (prefix) => ['POST', `${prefix}/contents/generations/tasks`] as const,
      ),
    ] as const) {
      const response = await gateway.fetch(path, {
        method,
        ...(method === 'POST' ? { body: '{}' } : {}),
        headers: { 'content-type': 'application/json' },
      })
      assert.equal(response.status, 401, `${method} ${path}`)
      await response.text()
    }
  })

  test('keys begin with tr-, webhook secrets with whsec_', async () => {
    assert.match(tenant.key, /^tr-/)
    const { json } = await gateway.get('/v1/webhooks/secret', tenant.key)
    assert.match(json.secret, /^whsec_/)
  })

  test('each status has the documented type and message', async () => {
    const search = { Type: 'web', Query: 'rivers' }
    const poor = await gateway.tenant({ balance: '0' })
    const slow = await gateway.tenant({ key: { limits: { requests_per_minute: 1 } } })
    const last = [
      await post(VIDEO, { content: [] }),
      await gateway.post('/v1/search', 'tr-nobody', search),
      await gateway.post('/v1/search', poor.key, search),
      await post('/v1/search', { ...search, Query: '[[fault:status=500]]' }),
    ]
    await gateway.post('/v1/search', slow.key, search)
    last.push(await gateway.post('/v1/search', slow.key, search))
    assert.deepEqual(
      last.map(({ status, json }) => [status, json.type, json.error]),
      [
        [400, 'invalid_request_error', 'model field is required'],
        [401, 'auth_error', 'invalid or missing API key'],
        [402, 'billing_error', 'insufficient balance -- please top up or upgrade the service plan'],
        [502, 'server_error', 'upstream provider error'],
        [429, 'rate_limit_error', 'rate limit exceeded'],
      ],
    )
  })

  test('without a model the documented message, on every endpoint that wants one', async () => {
    for (const [path, body] of [
      [MINUTES, recording()],
      [VIDEO, { content: video().content }],
      [CONTENTS, { content: video().content }],
      ['/v1/images/async', { prompt: 'a river' }],
      ['/v1/responses', { input: 'hello' }],
      ['/v1/messages', { max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }],
      [SPEECH, speech],
    ] as const) {
      const { status, json } = await post(path, body, VERSION)
      const { error = '' } = json
      const message = typeof error === 'string' ? error : error.message
      assert.equal(status, 400, path)
      assert.match(message, /^model field is required/, path)
    }
  })

  test('either header has the key, on every endpoint', async () => {
    for (const headers of [
      { authorization: `Bearer ${tenant.key}` },
      { 'x-api-key': tenant.key },
    ] as Record<string, string>[]) {
      for (const [path, body] of [
        ['/v1/chat/completions', { model: 'sim-chat', messages: [{ role: 'user', content: 'x' }] }],
        ['/v1/search', { Type: 'web', Query: 'x' }],
        [VIDEO, video({}, BRIEF)],
      ] as const) {
        const response = await gateway.fetch(path, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
        assert.equal(response.status, 200, `${path}: ${await response.text()}`)
      }
    }
  })

  test('a video’s tier cannot be changed once it is submitted', async () => {
    const { json } = await post(VIDEO, video())
    const response = await gateway.fetch(`${VIDEO}/${json.id}`, {
      method: 'PATCH',
      key: tenant.key,
      headers: { 'content-type': 'application/json' },
      body: '{"service_tier":"flex"}',
    })
    assert.equal(response.status, 405)
    await response.text()
  })
})
