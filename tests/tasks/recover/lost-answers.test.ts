/**
 * Every creation whose answer the vendor loses, by a real SDK that repeats what it may: one
 * answer with an id, one job at the vendor, at most one charge. The id is good on every
 * path, and the webhook names the one that the creation answered.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import OpenAI from 'openai'
import { startTestGateway, type Tenant, type TestGateway } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { startReceiver } from '../../webhooks/support.ts'
import { type EraseStage, startEraseStage } from '../erase-stage.ts'
import { CONTENTS_PATH, QUICK, startTaskStage, type TaskStage, VIDEO_PATH } from '../stage.ts'

const FAST = 'queue-time=20;run-time=20'

/** As applications call it: two repetitions of whatever may be repeated. */
const sdk = ({ url }: TestGateway, { key }: Tenant) =>
  new OpenAI({ apiKey: key, baseURL: url, maxRetries: 2 })

interface Created {
  readonly id: string
  readonly upstream_id?: string | null
}

describe('a creation whose answer was lost', () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await startTestGateway({ ...QUICK, ALLOW_PRIVATE_TARGETS: 'true' })
    await fetch(`${gateway.simulators.url}/sim/calls`, {
      method: 'POST',
      body: JSON.stringify({ recording: true }),
    })
  })
  after(() => gateway.stop())

  const words = (marker: string) =>
    `[[call:${marker}]][[fault:lost-answer=504;media-seconds=20;${FAST}]]`
  const video = (model: string) => (marker: string) => ({
    model,
    duration: 5,
    content: [{ type: 'text', text: words(marker) }],
  })
  /** The vendor's own error, after which the task may exist. */
  const late = (model: string) => (marker: string) => ({
    model,
    content: [{ type: 'text', text: `[[call:${marker}]][[fault:late-error;${FAST}]]` }],
  })
  const minutes = (model: string) => (marker: string) => ({
    model,
    features: { summary: true },
    file_url: `https://media.example/a.mp3?x=${words(marker)}`,
  })

  /** Path, body, the key of the record, and whether this vendor has a task list. */
  const cases: readonly [string, (marker: string) => object, string, boolean][] = [
    [VIDEO_PATH, video('doubao-seedance-1-0-pro-250528'), VIDEO_PATH, true],
    ...['/v1', '/api/v3', '/v3', '/api/v1'].map((prefix): (typeof cases)[number] => {
      const path = `${prefix}/contents/generations/tasks`
      return [path, video('doubao-seedance-1-0-pro-250528'), path, true]
    }),
    [VIDEO_PATH, video('MiniMax-H3'), VIDEO_PATH, false],
    [VIDEO_PATH, video('wan3.0-video'), VIDEO_PATH, true],
    [VIDEO_PATH, video('kling-3.0'), VIDEO_PATH, true],
    [VIDEO_PATH, video('kling-v3'), VIDEO_PATH, true],
    [VIDEO_PATH, late('kling-3.0'), VIDEO_PATH, true],
    [VIDEO_PATH, video('owner/films'), VIDEO_PATH, true],
    ['/v1/audio/minutes', minutes('service-minutes'), '/v1/audio/minutes', true],
    ['/v1/audio/minutes', minutes('vendor-minutes'), '/v1/audio/minutes', false],
  ]

  const creations = async (marker: string) => {
    const response = await fetch(`${gateway.simulators.url}/sim/calls`)
    const { calls } = (await response.json()) as {
      calls: readonly { method: string; body_base64: string }[]
    }
    return calls.filter(({ method, body_base64: body }) => {
      return method === 'POST' && Buffer.from(body, 'base64').includes(`call:${marker}]`)
    }).length
  }

  for (const [index, [path, body, reading, finds]] of cases.entries()) {
    test(`${index}: ${path}`, async () => {
      const marker = `lost${index}`
      const tenant = await gateway.tenant()
      const client = sdk(gateway, tenant)
      const created = await client.post<Created>(path, { body: body(marker) })
      const isNative = path.endsWith('/tasks')
      assert.match(created.id, isNative ? /^cgt-/ : /^task_/)
      if (path === VIDEO_PATH) assert.equal(created.upstream_id !== null, finds)
      const ended = await until('the end', async () => {
        const task = await client.get<{ id: string; status: string }>(`${reading}/${created.id}`)
        assert.equal(task.id, created.id, 'it goes by one id')
        return ['succeeded', 'failed'].includes(task.status) ? task : undefined
      })
      assert.equal(ended.status, finds ? 'succeeded' : 'failed')
      assert.equal(await creations(marker), 1, 'it was sent once')
      const jobs = gateway.simulators.book.entries({ marker }).filter(({ billed }) => billed)
      assert.ok(jobs.length <= 1, JSON.stringify(jobs))
      const { json } = await gateway.get('/v1/usage', tenant.key)
      const charged = json.data.filter((one: { charged: string }) => one.charged !== '0')
      assert.equal(charged.length, finds ? 1 : 0)
      assert.equal((await gateway.balance(tenant.accountId)).held, 0n)
    })
  }

  test('images: the call of a worker whose answer was lost is made once, and paid back', async () => {
    const tenant = await gateway.tenant()
    const body = { model: 'sim-dall-e', prompt: '[[call:lostimage]][[fault:status=504]] a river' }
    const client = sdk(gateway, tenant)
    const created = await client.post<Created>('/v1/images/async', { body })
    const ended = await until('the end', async () => {
      const path = `/v1/images/async/${created.id}`
      const task = await client.get<{ status: string }>(path)
      return task.status === 'failed' ? task : undefined
    })
    assert.ok(ended)
    assert.equal(await creations('lostimage'), 1)
    assert.equal((await gateway.balance(tenant.accountId)).held, 0n)
  })

  /** A model and a request of each kind of call, with a vendor that loses its answer. */
  const calls: readonly [string, object][] = [
    ['/v1/chat/completions', { model: 'sim-chat', messages: [{ role: 'user', content: '' }] }],
    ['/v1/responses', { model: 'sim-chat', input: '' }],
    ['/v1/embeddings', { model: 'sim-embedding', input: '' }],
    ['/v1/images/generations', { model: 'sim-dall-e', prompt: '' }],
  ]
  const FAULTS: readonly [string, number, boolean][] = [
    // The vendor may have done it: never a second time.
    ['status=504', 1, false],
    ['reset-before-head', 1, false],
    ['close-before-head', 1, false],
    // It says that it did not: as often as the SDK wants.
    ['status=503', 3, true],
    ['status=500', 3, true],
  ]
  for (const [path, request] of calls) {
    for (const [fault, sent, repeats] of FAULTS) {
      test(`${path}: ${fault} is sent ${sent} times by an SDK`, async () => {
        const tenant = await gateway.tenant()
        const marker = `${path.split('/').at(-1)}-${fault}`
        const text = `[[call:${marker}]][[fault:${fault}]]`
        const body = JSON.parse(JSON.stringify(request).replaceAll('""', JSON.stringify(text)))
        const sending = sdk(gateway, tenant).post(path, { body })
        const error: unknown = await sending.catch((thrown: unknown) => thrown)
        assert.ok(error instanceof OpenAI.APIError, String(error))
        assert.equal(error.headers?.get('x-should-retry'), String(repeats))
        assert.equal(error.headers?.has('retry-after'), repeats)
        assert.equal(await creations(marker), sent)
      })
    }
  }
})

describe('an erasure whose answer was lost', () => {
  let stage: EraseStage
  before(async () => {
    stage = await startEraseStage()
  })
  after(() => stage.stop())

  test('one answer, one job, one charge', async () => {
    const tenant = await stage.gateway.tenant()
    const source = await stage.scripted(tenant, '[[fault:lost-answer=504]]')
    const body = { video_task_id: source, model: 'erase-paid' }
    const client = sdk(stage.gateway, tenant)
    const created = await client.post<Created>('/v1/videos/erase-subtitle', { body })
    assert.equal((await stage.ended(tenant, created.id)).status, 'succeeded')
    const { json } = await stage.gateway.get('/v1/usage', tenant.key)
    const paid = json.data.filter((one: { charged: string }) => one.charged !== '0')
    assert.deepEqual(
      paid.map((one: { charged: string }) => one.charged),
      ['0.05'],
    )
  })
})

describe('a task goes by the id that its creation answered', () => {
  let stage: TaskStage
  before(async () => {
    stage = await startTaskStage()
    stage.vendor.advance = true
  })
  after(() => stage.stop())

  for (const [path, lost, shape] of [
    [VIDEO_PATH, false, /^task_/],
    [VIDEO_PATH, true, /^task_/],
    [CONTENTS_PATH, false, /^cgt-/],
    [CONTENTS_PATH, true, /^task_/],
  ] as const) {
    test(`${path}${lost ? ', its answer lost' : ''}: the webhook and every path`, async (t) => {
      const { gateway } = stage
      const tenant = await gateway.tenant()
      const receiver = await startReceiver(t)
      if (lost) stage.vendor.loseAnswers(1)
      stage.vendor.lists = !lost
      const content = [{ type: 'text', text: 'a river' }]
      // One model each: a lost submission must be the only candidate in its list.
      const model = path === VIDEO_PATH ? 'test-video' : 'test-video-seconds'
      const body = { model, content, callback_url: receiver.url }
      const created = await sdk(gateway, tenant).post<Created>(path, { body })
      stage.vendor.lists = true
      assert.match(created.id, shape)
      const got = await until('the webhook', () => receiver.received[0])
      const payload = JSON.parse(got.body.toString())
      assert.deepEqual([payload.task_id, payload.status], [created.id, 'succeeded'])
      const native = await gateway.get(`${VIDEO_PATH}/${created.id}`, tenant.key)
      assert.equal(native.json.status, 'succeeded')
      const listed = `/v1/webhooks/deliveries?task_id=${created.id}`
      assert.equal((await gateway.get(listed, tenant.key)).json.data.length, 1)
      for (const prefix of ['/v1', '/api/v3', '/v3', '/api/v1']) {
        const place = `${prefix}/contents/generations/tasks/${created.id}`
        const { json } = await gateway.get(place, tenant.key)
        if (path === CONTENTS_PATH) assert.equal(json.id, created.id)
        assert.equal(json.status, 'succeeded')
      }
      const removed = await gateway.fetch(`${path}/${created.id}`, {
        method: 'DELETE',
        key: tenant.key,
      })
      assert.equal(removed.status, 200)
      await removed.text()
    })
  }

  test('one that the vendor has not confirmed cannot be cancelled yet, and says so', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.loseAnswers(1)
    stage.vendor.lists = false
    const created = await stage.create(tenant, {
      model: 'test-video-1',
      content: [{ type: 'text', text: 'a' }],
    })
    const path = `${VIDEO_PATH}/${created.json.id}`
    const refused = await stage.gateway.fetch(path, { method: 'DELETE', key: tenant.key })
    assert.equal(refused.status, 409)
    assert.match(await refused.text(), /not confirmed/)
    stage.vendor.lists = true
    await stage.until(tenant, created.json.id, 'succeeded')
  })
})
