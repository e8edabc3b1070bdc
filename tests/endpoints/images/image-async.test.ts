/** POST and GET /v1/images/async, black box: fields, states, results, money, the gallery. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { PNG } from '../../assets/png.ts'
import { until } from '../../support/until.ts'
import { ASYNC_PATH, type ImageStage, startImageStage } from '../../tasks/calls/image-stage.ts'
import { startReceiver } from '../../webhooks/support.ts'
import { testCommonStatuses } from '../common-statuses.ts'

describe(ASYNC_PATH, () => {
  let stage: ImageStage
  before(async () => {
    stage = await startImageStage({ TASK_CALLS_PER_CHANNEL: '2' })
  })
  beforeEach(() => {
    Object.assign(stage.vendor, { base64: false, usage: undefined })
    stage.vendor.letGo()
  })
  after(() => stage.stop())

  test('queued while it waits for a slot, then processing, then succeeded', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.waits = true
    const first = await stage.create(tenant)
    assert.equal(first.status, 200, first.text)
    const { id, created_at: createdAt, ...rest } = first.json
    assert.deepEqual(rest, { status: 'queued', model: 'piece' })
    assert.ok(Number.isInteger(createdAt) && Math.abs(createdAt - Date.now() / 1000) < 60)
    const second = await stage.create(tenant)
    await stage.until(tenant, id, 'processing')
    await stage.until(tenant, second.json.id, 'processing')
    const third = await stage.create(tenant)
    const waiting = await stage.readTask(tenant, third.json.id)
    assert.deepEqual(waiting, { ...third.json, status: 'queued' })
    stage.vendor.letGo()
    const done = await stage.until(tenant, id, 'succeeded')
    assert.deepEqual(done, {
      id,
      status: 'succeeded',
      model: 'piece',
      created_at: createdAt,
      result: {
        created: 1_795_253_412,
        data: [{ url: 'https://media.example/p-1.png', revised_prompt: 'a river' }],
      },
      charged: '0.5',
      currency: 'CNY',
    })
    await stage.until(tenant, third.json.id, 'succeeded')
    const events = await stage.timeline(tenant, id)
    assert.deepEqual(events, ['held', 'processing', 'succeeded', 'settled'])
  })

  test('charged by the image, and the prompt is not stored with the task', async () => {
    const tenant = await stage.gateway.tenant()
    const created = await stage.create(tenant, { n: 3, size: '1024x1024', user: 'u' })
    await stage.until(tenant, created.json.id, 'succeeded')
    const record = await stage.gateway.record(created, tenant.key)
    assert.deepEqual(
      [record.status, record.basis, record.held, record.charged],
      ['succeeded', 'usage', '1.5', '1.5'],
    )
    assert.deepEqual(
      record.attempts.map(({ outcome }) => outcome),
      ['answered'],
    )
    const { sql } = stage.gateway
    const [row] = await sql`select request from task where id = ${created.json.id}`
    assert.deepEqual(row?.request, { n: 3, size: '1024x1024' })
    const bodies = await sql`select 1 from task_body where task_id = ${created.json.id}`
    assert.equal(bodies.length, 0)
  })

  test('charged by the token, and only then shows the usage', async () => {
    const tenant = await stage.gateway.tenant()
    const usage = { input_tokens: 10, output_tokens: 100, total_tokens: 110 }
    stage.vendor.usage = usage
    const created = await stage.create(tenant, { model: 'tokens' })
    const done = await stage.until(tenant, created.json.id, 'succeeded')
    assert.deepEqual(done.result.usage, usage)
    const record = await stage.gateway.record(created, tenant.key)
    assert.deepEqual([record.basis, record.charged], ['usage', '0.21'])
    const other = await stage.create(tenant)
    const shown = await stage.until(tenant, other.json.id, 'succeeded')
    assert.equal(shown.result.usage, undefined)
    const byTask = await stage.create(tenant, { model: 'by-task', n: 4 })
    await stage.until(tenant, byTask.json.id, 'succeeded')
    const { held, charged, basis } = await stage.gateway.record(byTask, tenant.key)
    assert.deepEqual([held, charged, basis], ['0.7', '0.7', 'usage'])
    const free = await stage.create(tenant, { model: 'free' })
    await stage.until(tenant, free.json.id, 'succeeded')
    assert.equal((await stage.gateway.record(free, tenant.key)).charged, '0')
  })

  for (const base64 of [false, true]) {
    const form = base64 ? 'bytes' : 'a link'
    test(`an image deleted from the gallery is removed from its task too: ${form}`, async () => {
      const tenant = await stage.gateway.tenant()
      stage.vendor.base64 = base64
      const created = await stage.create(tenant)
      await stage.until(tenant, created.json.id, 'succeeded')
      const path = `/v1/gallery?task_id=${created.json.id}`
      const { data } = (await stage.gateway.get(path, tenant.key)).json
      assert.equal(data.length, 1)
      const options = { method: 'DELETE', key: tenant.key }
      await stage.gateway.fetch(`/v1/gallery/${data[0].id}`, options)
      const after = await stage.readTask(tenant, created.json.id)
      assert.deepEqual([after.status, after.result.data], ['succeeded', [{}]])
    })
  }

  test('the upstream gets the request without the members of the task', async () => {
    const tenant = await stage.gateway.tenant()
    const body = { stream: true, partial_images: 2, response_format: 'b64_json', seed: 7 }
    const created = await stage.create(tenant, { ...body, prompt: 'the one with seed' })
    await stage.until(tenant, created.json.id, 'succeeded')
    const sent = stage.vendor.requests.get('p-1')?.at(-1)
    assert.deepEqual(sent, { model: 'p-1', prompt: 'the one with seed', seed: 7 })
  })

  test('bytes become a link of the gateway, and a gallery entry with its prompt', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.base64 = true
    const created = await stage.create(tenant, { n: 2, prompt: 'two rivers' })
    const done = await stage.until(tenant, created.json.id, 'succeeded')
    const urls: string[] = done.result.data.map((one: { url: string }) => one.url)
    assert.equal(new Set(urls).size, 2)
    assert.ok(!JSON.stringify(done).includes('b64_json'))
    const { data } = (await stage.gateway.get('/v1/gallery', tenant.key)).json
    assert.equal(data.length, 2)
    for (const url of urls) {
      const fetched = await fetch(stage.gateway.url + new URL(url).pathname)
      assert.equal(fetched.headers.get('content-type'), 'image/png')
      assert.deepEqual(Buffer.from(await fetched.arrayBuffer()), PNG)
      const entry = data.find((one: { url: string }) => one.url === url)
      assert.deepEqual(
        [entry.copy.state, entry.prompt, entry.width, entry.bytes, entry.task_id],
        ['stored', 'two rivers', 1, PNG.length, created.json.id],
      )
    }
    const loose = await stage.gateway.sql`select 1 from loose_blob`
    assert.equal(loose.length, 0)
  })

  test('links are added to the gallery too', async () => {
    const tenant = await stage.gateway.tenant()
    const created = await stage.create(tenant, { prompt: 'one river', size: '20x10' })
    await stage.until(tenant, created.json.id, 'succeeded')
    const { data } = (await stage.gateway.get('/v1/gallery', tenant.key)).json
    assert.deepEqual(
      data.map((one: { prompt: string; width: number }) => [one.prompt, one.width]),
      [['one river', 20]],
    )
  })

  test('a failure costs nothing and has its reason as a string', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.faults.push(400)
    const created = await stage.create(tenant)
    const done = await stage.until(tenant, created.json.id, 'failed')
    assert.deepEqual(done, {
      ...created.json,
      status: 'failed',
      error: 'refused with 400',
      charged: '0',
      currency: 'CNY',
    })
    const record = await stage.gateway.record(created, tenant.key)
    assert.deepEqual([record.status, record.charged], ['failed', '0'])
    const balance = await stage.gateway.balance(tenant.accountId)
    assert.deepEqual([balance.held, balance.available], [0n, 100_000_000_000n])
    const events = await stage.timeline(tenant, created.json.id)
    assert.deepEqual(events, ['held', 'processing', 'failed', 'released'])
  })

  test('a vendor’s message about our account is not shown', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.faults.push(401, 401, 401)
    const created = await stage.create(tenant)
    const done = await stage.until(tenant, created.json.id, 'failed')
    assert.equal(done.error, 'upstream provider error')
  })

  test('webhooks of success and failure', async (t) => {
    const tenant = await stage.gateway.tenant()
    for (const status of ['succeeded', 'failed']) {
      const receiver = await startReceiver(t)
      if (status === 'failed') stage.vendor.faults.push(400)
      const created = await stage.create(tenant, { callback_url: receiver.url })
      const got = await until('the webhook', () => receiver.received[0])
      const {
        created_at: createdAt,
        finished_at: finishedAt,
        ...payload
      } = JSON.parse(got.body.toString())
      assert.ok(Date.parse(createdAt) <= Date.parse(finishedAt))
      const { result } = await stage.readTask(tenant, created.json.id)
      // A link that lasts, in place of the vendor's.
      for (const image of payload.result?.data ?? []) {
        assert.match(image.url, /\/media\/\w{40}\/image(?:\.png)?$/)
        image.url = result.data[0].url
      }
      const { charged } = await stage.gateway.record(created, tenant.key)
      assert.deepEqual(payload, {
        task_id: created.json.id,
        kind: 'image',
        status,
        model: 'piece',
        charged,
        currency: 'CNY',
        ...(status === 'succeeded'
          ? { result }
          : { error: { code: 'task_failed', message: 'refused with 400' } }),
      })
    }
  })

  test('a repeated Idempotency-Key returns the same task', async () => {
    const tenant = await stage.gateway.tenant()
    const before = stage.vendor.requests.get('p-1')?.length ?? 0
    const header = { 'idempotency-key': 'again' }
    const first = await stage.create(tenant, {}, header)
    const second = await stage.create(tenant, {}, header)
    assert.equal(second.text, first.text)
    assert.equal(second.headers.get('idempotent-replayed'), first.headers.get('x-request-id'))
    await stage.until(tenant, first.json.id, 'succeeded')
    assert.equal((await stage.create(tenant, {}, header)).text, first.text)
    assert.equal(stage.vendor.requests.get('p-1')?.length, before + 1)
  })

  test('the same 404 for foreign, unknown and malformed ids, and tasks of other kinds', async () => {
    const tenant = await stage.gateway.tenant()
    const other = await stage.gateway.tenant()
    const foreign = await stage.create(other)
    for (const id of [
      foreign.json.id,
      'task_0000000000000000000000',
      '%00',
      '%ff',
      'x'.repeat(5000),
    ]) {
      const answer = await stage.gateway.get(`${ASYNC_PATH}/${id}`, tenant.key)
      assert.equal(answer.status, 404, id)
      assert.deepEqual(answer.json, { error: 'no such task', type: 'not_found_error' })
    }
    assert.equal((await stage.gateway.get(`${ASYNC_PATH}/x`, 'tr-nobody')).status, 401)
    const video = await stage.gateway.get(`/v1/videos/erase-subtitle/${foreign.json.id}`, other.key)
    assert.equal(video.status, 404)
  })

  test('400 for a wrong field, in the flat form, and nothing is held', async () => {
    const tenant = await stage.gateway.tenant()
    for (const [field, value] of Object.entries({
      prompt: undefined,
      n: 99,
      size: 7,
      callback_url: 'ftp://a.example/',
    })) {
      const answer = await stage.create(tenant, { [field]: value })
      assert.equal(answer.status, 400, field)
      assert.match(answer.json.error, new RegExp(`^${field}: `))
    }
    assert.deepEqual((await stage.gateway.get('/v1/usage', tenant.key)).json.data, [])
  })
})

describe(`${ASYNC_PATH}, with a slow vendor`, () => {
  let stage: ImageStage
  before(async () => {
    stage = await startImageStage({ TASK_CALLS_PER_CHANNEL: '1' })
    stage.vendor.waits = true
  })
  after(() => stage.stop())

  testCommonStatuses(() => stage.gateway, {
    path: ASYNC_PATH,
    body: { model: 'piece', prompt: 'a river' },
    model: 'piece',
    envelope: 'flat',
    answersFirst: true,
    withWords: (words) => ({ model: 'piece', prompt: words }),
    withModel: (model) => ({ path: ASYNC_PATH, body: { model, prompt: 'a river' } }),
  })
})
