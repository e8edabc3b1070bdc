/** A field that the gateway does not know reaches the vendor, or is refused by its name. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Endpoint } from '../../server/api/endpoints/endpoint.ts'
import { ENDPOINTS } from '../../server/api/endpoints/index.ts'
import type { JsonObject } from '../../server/base/lib/json.ts'
import {
  startTestGateway,
  type Tenant,
  type TestAnswer,
  type TestGateway,
} from '../support/in-process.ts'
import { until } from '../support/until.ts'
import { makeSamples, makeWav } from '../support/wav.ts'

const VALUE = 'kept-7c1e'
const FIELD = 'x_unknown'

/** A model for each protocol that serves the type; conversations have tests of their own. */
const MODELS: Readonly<Record<string, readonly string[]>> = {
  embedding: ['sim-embedding'],
  moderation: ['sim-moderation'],
  speech: ['seed-tts-2.0', 'sim-tts'],
  transcription: ['sim-whisper', 'sim-recognition', 'sim-recognition-turbo'],
  ast: ['sim-interpretation'],
  search: ['vendor-web-search', 'vendor-global-search'],
  image: ['sim-image', 'doubao-seedream-4-0-250828'],
  video: [
    'doubao-seedance-2-0-260128',
    'doubao-seedance-1-0-pro-250528',
    'MiniMax-H3',
    'hailuo',
    'wan3.0-video',
    'kling-3.0',
    'owner/films',
  ],
  minutes: ['service-minutes', 'vendor-minutes'],
  erase: ['subtitle-erase'],
}

const HAILUO = {
  channels: [
    {
      id: 'hailuo',
      upstream: 'minimax',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the catalog replaces it.
      settings: { base_url: '${SIMULATORS_URL}/minimax', api_key: 'sim-key' },
    },
  ],
  models: [
    {
      id: 'hailuo',
      type: 'video',
      prices: [{ unit: 'second', per: 1, amount: '0.01' }],
      routes: [{ channel: 'hailuo', upstream_model: 'MiniMax-Hailuo-02' }],
    },
  ],
}

type Send = (extra: JsonObject) => Promise<TestAnswer>

let gateway: TestGateway
let tenant: Tenant
before(async () => {
  gateway = await startTestGateway()
  await gateway.apply(HAILUO, 'hailuo')
  tenant = await gateway.tenant({ balance: '1000' })
})
after(() => gateway.stop())

async function sendForm(path: string, fields: JsonObject): Promise<TestAnswer> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value))
  form.append('file', new Blob([new Uint8Array(makeWav(makeSamples(1_000)))]), 'a.wav')
  const response = await gateway.fetch(path, { method: 'POST', body: form, key: tenant.key })
  const text = await response.text()
  const { status, headers } = response
  return { status, headers, text, json: undefined }
}

/** Demands that the value reaches the vendor, or that its field is named in a 400. */
async function demand(send: Send, extra: JsonObject, named: string): Promise<void> {
  const since = gateway.simulators.calls.list().at(-1)?.sequence ?? 0
  const isSent = () =>
    gateway.simulators.calls.list(since).some(({ body_base64: body }) => {
      return Buffer.from(body, 'base64').includes(VALUE)
    })
  const answer = await send(extra)
  if (answer.status === 400) {
    assert.ok(isSent() || answer.text.includes(named), answer.text)
    return
  }
  assert.equal(answer.status, 200, answer.text)
  // A task that makes a call is answered before the call.
  await until(`${named} to be sent`, isSent)
}

/** The body of the call to a vendor's path. Tasks of other tests are polled meanwhile. */
function sentTo(path: string, since: number) {
  const call = gateway.simulators.calls.list(since).find(({ url }) => url.includes(path))
  return JSON.parse(Buffer.from(call?.body_base64 ?? '', 'base64').toString())
}

function typesOf(endpoint: Endpoint): readonly string[] {
  if (endpoint.kind === 'metered') return endpoint.metering.modelTypes
  return endpoint.kind === 'task' ? endpoint.submission.modelTypes : []
}

describe('an unknown field', () => {
  const asked = ENDPOINTS.filter((endpoint) => typesOf(endpoint).some((type) => MODELS[type]))
  assert.ok(asked.length >= 12)
  for (const endpoint of asked) {
    const [type = ''] = typesOf(endpoint)
    const isGoogles = endpoint.paths[0].startsWith('/v1beta/')
    const models = isGoogles ? ['sim-gemini-embedding'] : (MODELS[type] ?? [])
    // Only one protocol has the native stream, and one has variations.
    const hasOneProtocol = /\/(?:unidirectional|variations)$/.test(endpoint.paths[0])
    for (const model of hasOneProtocol ? models.slice(0, 1) : models) {
      test(`of ${endpoint.paths[0]} at ${model} is sent or named`, async () => {
        const example = endpoint.documentation.example?.(model) ?? {}
        const { path = endpoint.paths[0], headers = {} } = example
        if (example.form) {
          const { file: _, ...fields } = example.form
          const send: Send = (extra) => sendForm(path, { ...fields, model, ...extra })
          await demand(send, { [FIELD]: VALUE }, FIELD)
          return
        }
        const body = example.body as object
        const own =
          type === 'search'
            ? { Query: 'rivers', model }
            : { ...body, ...(type === 'video' ? { duration: 6 } : {}) }
        await demand(
          (extra) => gateway.post(path, tenant.key, { ...own, ...extra }, headers),
          { [FIELD]: VALUE },
          FIELD,
        )
      })
    }
  }
})

describe('an unknown field inside of a known one', () => {
  const inside = { [FIELD]: VALUE }
  const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
  const text = { type: 'text', text: 'A river.' }
  const minutes = { file_url: 'https://files.example/talk.mp3' }
  const sayings = { input: 'A river.', voice: 'zh_female_vv_uranus_bigtts' }
  const spoken = { text: 'A river.', speaker: 'zh_female_vv_uranus_bigtts', audio_params: {} }
  const cases: readonly (readonly [path: string, models: readonly string[], body: JsonObject])[] = [
    [
      '/v1/videos/generations',
      MODELS.video ?? [],
      { content: [{ ...text, ...inside }], duration: 6 },
    ],
    [
      '/v1/videos/generations',
      MODELS.video ?? [],
      {
        content: [text, { ...picture, image_url: { ...picture.image_url, ...inside } }],
        duration: 6,
      },
    ],
    [
      '/v1/audio/minutes',
      // The other product documents that it ignores them, whatever they hold.
      ['vendor-minutes'],
      { ...minutes, features: { summary: true, ...inside } },
    ],
    ['/v1/audio/speech', ['seed-tts-2.0'], { ...sayings, voice: { id: sayings.voice, ...inside } }],
    [
      '/v1/audio/speech/unidirectional?model=seed-tts-2.0',
      [''],
      { req_params: { ...spoken, ...inside } },
    ],
    ['/v1/search', MODELS.search ?? [], { Query: 'rivers', Filter: inside }],
    [
      '/v1/images/generations',
      MODELS.image ?? [],
      { prompt: 'A river.', sequential_image_generation_options: inside },
    ],
  ]
  for (const [path, models, body] of cases) {
    for (const model of models) {
      test(`${path} at ${model || 'the only model'}: ${Object.keys(body).at(-1)}`, async () => {
        const named = model === '' ? {} : { model }
        await demand((extra) => gateway.post(path, tenant.key, { ...body, ...extra }), named, FIELD)
      })
    }
  }
})

test('what service-minutes ignores is not validated, and not kept', async () => {
  const names = ['all_activate', 'features', 'speaker_identification', 'number_of_speakers']
  const minutes = { model: 'service-minutes', file_url: 'https://files.example/talk.mp3' }
  for (const junk of ['yes', 1.5, -1, ['a'], { a: { target_lang: 'de' } }, {}, false, null]) {
    const ignored = Object.fromEntries(names.map((name) => [name, junk]))
    const answer = await gateway.post('/v1/audio/minutes', tenant.key, { ...minutes, ...ignored })
    assert.equal(answer.status, 200, `${JSON.stringify(junk)}: ${answer.text}`)
    const [row] = await gateway.sql`select request from task where id = ${answer.json.id}`
    const kept = names.map((name) => row?.request[name])
    assert.deepEqual(kept, [false, undefined, true, 0])
  }
})

test('members that only the gateway sets are refused like unknown ones', async () => {
  const content = [{ type: 'text', text: 'A river.' }]
  const video = { model: 'doubao-seedance-2-0-260128', content }
  const minutes = { model: 'service-minutes', file_url: 'https://files.example/talk.mp3' }
  for (const [path, body, name] of [
    ['/v1/videos/generations', video, 'draft_seconds'],
    ['/v1/videos/generations', video, 'source_channel'],
    ['/v1/audio/minutes', minutes, 'recording_seconds'],
    ['/v1/audio/minutes', minutes, 'media_type'],
  ] as const) {
    const answer = await gateway.post(path, tenant.key, { ...body, [name]: 1 })
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.json.error, new RegExp(`^${name}: unknown field`))
  }
})

test('a list refuses a parameter that it does not know, but in the format of a vendor', async () => {
  // Clients of vendors send them parameters that only some versions have.
  const ofVendors = /^\/v1(?:beta)?\/(?:models|files)$|\/contents\/generations\/tasks$/
  const lists = ENDPOINTS.filter(
    ({ method, documentation }) => method === 'GET' && documentation.query,
  )
  const paths = lists.flatMap((one) => one.paths).filter((path) => !path.includes(':'))
  assert.ok(paths.includes('/v1/usage') && paths.some((path) => ofVendors.test(path)))
  for (const path of paths) {
    const { status, text, json } = await gateway.get(`${path}?${FIELD}=1`, tenant.key)
    assert.equal(status, ofVendors.test(path) ? 200 : 400, `${path}: ${text}`)
    if (status === 400) assert.equal(json.error, `${FIELD}: unknown field`)
  }
})

test('what clients of speech send beside the documented fields is taken', async () => {
  const since = gateway.simulators.calls.list().at(-1)?.sequence ?? 0
  const answer = await gateway.post('/v1/audio/speech', tenant.key, {
    model: 'seed-tts-2.0',
    input: 'A river.',
    voice: 'zh_female_vv_uranus_bigtts',
    stream: true,
    user: VALUE,
  })
  assert.equal(answer.status, 200, answer.text)
  const sent = sentTo('/tts/', since)
  assert.equal(sent.user.uid, VALUE)
})

test('a number of images beside a sequence is sent or refused', async () => {
  const path = '/v1/images/generations'
  const base = { model: 'doubao-seedream-4-0-250828', prompt: 'A river.', n: 2 }
  const auto = { ...base, sequential_image_generation: 'auto' }
  const since = gateway.simulators.calls.list().at(-1)?.sequence ?? 0
  assert.equal((await gateway.post(path, tenant.key, auto)).status, 200)
  const sent = sentTo('/images/generations', since)
  assert.deepEqual(sent.sequential_image_generation_options, { max_images: 2 })
  for (const body of [
    { ...base, sequential_image_generation: 'disabled' },
    { ...auto, sequential_image_generation_options: { max_images: 3 } },
  ]) {
    const refused = await gateway.post(path, tenant.key, body)
    assert.equal(refused.status, 400, refused.text)
    assert.match(refused.json.error.message, /^n: /)
  }
})
