/** GET /v1/models and /v1/models/{id}, black box. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'

let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

interface Listed {
  readonly id: string
  readonly model_type: string
  readonly prices: readonly { readonly unit: string }[]
}

test('200: every model with its type, prices and endpoints', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.get('/v1/models?limit=1000', key)
  assert.equal(answer.status, 200)
  const models: Listed[] = answer.json.data
  const search = models.find((model) => model.id === 'vendor-web-search')
  assert.equal(search?.model_type, 'search')
  assert.equal(search?.prices[0]?.unit, 'call')
  assert.equal(answer.json.object, 'list')
})

test('Anthropic’s SDK lists them with name and time', async () => {
  const { key } = await gateway.tenant()
  const client = new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0 })
  for await (const { id, display_name: name, created_at: time } of client.models.list()) {
    assert.ok(name, id)
    assert.equal(new Date(time).toISOString(), time, id)
  }
})

test('?type= filters, and an unknown type is a 400', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.get('/v1/models?type=speech', key)
  const models: Listed[] = answer.json.data
  assert.ok(models.length > 0)
  assert.ok(models.every((model) => model.model_type === 'speech'))
  assert.equal((await gateway.get('/v1/models?type=nonsense', key)).status, 400)
})

test('every model of ?type=video makes videos: the one that erases subtitles does not', async () => {
  const { key } = await gateway.tenant()
  const { json } = await gateway.get('/v1/models?type=video', key)
  assert.ok(json.data.length > 0)
  for (const { id, endpoints } of json.data) {
    assert.ok(endpoints.includes('/v1/videos/generations'), id)
  }
})

test('a video or image model states the fields of a request, and a 400 names them', async () => {
  const { key } = await gateway.tenant()
  const { json } = await gateway.get('/v1/models/MiniMax-H3', key)
  const field = (name: string) => json.fields.find((one: { name: string }) => one.name === name)
  assert.deepEqual(field('resolution'), {
    name: 'resolution',
    type: 'string',
    values: ['768P', '2K'],
    default: '768P',
    required: false,
  })
  const { min, max, default: usual } = field('duration')
  assert.deepEqual([min, max, usual], [4, 15, 5])
  assert.equal(field('seed'), undefined)
  const content = [{ type: 'text', text: 'a river' }]
  const body = { model: 'MiniMax-H3', content }
  const seeded = await gateway.post('/v1/videos/generations', key, { ...body, seed: 7 })
  assert.equal(seeded.status, 400)
  assert.match(
    seeded.text,
    /seed: this model does not take it; it takes content, resolution, .*watermark/,
  )
  const large = await gateway.post('/v1/videos/generations', key, { ...body, resolution: '4k' })
  assert.match(large.text, /resolution: this model offers 768P, 2K/)
  const { json: image } = await gateway.get('/v1/models/qwen-image-3.0', key)
  const count = image.fields.find((one: { name: string }) => one.name === 'n')
  assert.deepEqual([count.min, count.max], [1, 6])
  assert.equal((await gateway.get('/v1/models/sim-chat', key)).json.fields, undefined)
})

test('a model lists the paths that accept it, by the operations of its upstreams', async () => {
  const { key } = await gateway.tenant()
  for (const [id, ...paths] of [
    ['subtitle-erase', '/v1/videos/erase-subtitle'],
    ['doubao-seedance-1-0-pro-250528', '/v1/videos/generations', '/v1/contents/generations/tasks'],
    [
      'sim-image',
      '/v1/images/generations',
      '/v1/images/edits',
      '/v1/images/variations',
      '/v1/images/async',
    ],
    ['seed-tts-2.0', '/v1/audio/speech/unidirectional', '/v1/audio/speech'],
    ['sim-tts', '/v1/audio/speech'],
    ['sim-whisper', '/v1/audio/transcriptions', '/v1/audio/translations'],
    ['sim-moderation', '/v1/moderations'],
    [
      'sim-chat',
      '/v1/chat/completions',
      '/v1/completions',
      '/v1/messages',
      '/v1/responses',
      '/v1/responses/compact',
    ],
  ]) {
    const { json } = await gateway.get(`/v1/models/${id}`, key)
    assert.deepEqual(json.endpoints, paths)
  }
})

test('a key sees only the models it may call', async () => {
  const { key } = await gateway.tenant({ key: { models: ['sim-chat'] } })
  const answer = await gateway.get('/v1/models', key)
  const models: Listed[] = answer.json.data
  assert.deepEqual(
    models.map((model) => model.id),
    ['sim-chat'],
  )
  assert.equal((await gateway.get('/v1/models/sim-chat', key)).status, 200)
  assert.equal((await gateway.get('/v1/models/sim-embedding', key)).status, 404)
})

test('an account sees only models that are free or sold in its currency', async () => {
  const routes = [{ channel: 'sim-openai', upstream_model: 'sim-chat' }]
  const prices = [{ unit: 'output_token', per: 1, amount: '0.001' }]
  const models = [
    { id: 'for-dollars', type: 'chat', prices, routes },
    { id: 'for-nothing', type: 'chat', free: true, routes },
  ]
  await gateway.apply({ currency: 'USD', models }, 'dollars')
  const yuan = await gateway.tenant()
  const dollars = await gateway.tenant()
  await gateway.sql`update account set currency = 'USD' where id = ${dollars.accountId}`
  const listed = async (key: string) => {
    const { data } = (await gateway.get('/v1/models', key)).json
    return new Set((data as Listed[]).map(({ id }) => id))
  }
  assert.deepEqual(await listed(dollars.key), new Set(['for-dollars', 'for-nothing']))
  const inYuan = await listed(yuan.key)
  assert.ok(inYuan.has('sim-chat') && inYuan.has('for-nothing') && !inYuan.has('for-dollars'))
  assert.equal((await gateway.get('/v1/models/for-dollars', yuan.key)).status, 404)
})

test('404 for an unknown model, 401 without a key', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.get('/v1/models/nothing', key)
  assert.equal(answer.status, 404)
  assert.equal(answer.json.error.code, 'model_not_found')
  assert.equal((await gateway.get('/v1/models', 'tr-nobody')).status, 401)
})

test('the openai package lists and gets them', async () => {
  const { key } = await gateway.tenant()
  const client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const ids: string[] = []
  for await (const model of client.models.list()) ids.push(model.id)
  assert.ok(ids.includes('sim-chat'))
  assert.equal((await client.models.retrieve('sim-chat')).id, 'sim-chat')
})
