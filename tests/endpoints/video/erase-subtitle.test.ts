/** POST and GET /v1/videos/erase-subtitle, black box: sources, statuses, money, the result. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Tenant, TestGateway } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { ERASE_PATH, type EraseStage, startEraseStage } from '../../tasks/erase-stage.ts'
import { startReceiver } from '../../webhooks/support.ts'
import { testCommonStatuses } from '../common-statuses.ts'

describe(ERASE_PATH, () => {
  let stage: EraseStage
  let gateway: TestGateway
  before(async () => {
    stage = await startEraseStage()
    gateway = stage.gateway
  })
  after(() => stage.stop())

  const refused = async (tenant: Tenant, body: object, expected: string) => {
    const answer = await stage.create(tenant, body)
    assert.equal(answer.status, 400, answer.text)
    assert.deepEqual(answer.json, { error: expected, type: 'invalid_request_error' })
  }

  test('created, polled, done: the erased copy and its original are in the library', async () => {
    const tenant = await gateway.tenant()
    const video = await stage.video(tenant)
    const created = await stage.create(tenant, { video_task_id: video.id, model: 'erase-paid' })
    assert.equal(created.status, 200, created.text)
    const { id, upstream_id: upstreamId, created_at: createdAt, ...rest } = created.json
    assert.deepEqual(rest, { status: 'processing' })
    assert.match(id, /^task_/)
    assert.match(upstreamId, /^amk-tool-erase-video-subtitle-pro-/)
    assert.ok(Date.parse(createdAt) > 0)
    const running = await gateway.get(`${ERASE_PATH}/${id}`, tenant.key)
    assert.equal(running.json.video_task_id, video.id)
    assert.equal(running.json.status === 'processing', running.json.video_url === undefined)
    const done = await stage.ended(tenant, id)
    assert.deepEqual(Object.keys(done).sort(), [
      'charged',
      'created_at',
      'currency',
      'finished_at',
      'id',
      'status',
      'upstream_id',
      'video_task_id',
      'video_url',
    ])
    const film = Buffer.from(await (await fetch(done.video_url)).arrayBuffer())
    assert.equal(film.toString('latin1', 4, 8), 'ftyp')
    const byTheirs = await gateway.get(`${ERASE_PATH}/${upstreamId}`, tenant.key)
    assert.equal(byTheirs.json.id, id)
    const { data } = (await gateway.get('/v1/assets', tenant.key)).json
    const erased = data.find((one: { kind: string }) => one.kind === 'erased')
    const original = data.find((one: { kind: string }) => one.kind === 'video')
    assert.equal(erased.original_id, original.id)
  })

  test('a source whose stated length is absurd is held as far as it can be', async () => {
    const tenant = await gateway.tenant()
    const { id } = await stage.video(tenant)
    for (const [duration, status] of [
      [1e12, 402],
      [1e300, 200],
    ] as const) {
      await gateway.sql`
        update task set result = jsonb_set(result, '{duration}', ${String(duration)}::text::jsonb)
        where id = ${id}`
      const answer = await stage.create(tenant, { video_task_id: id, model: 'erase-paid' })
      assert.equal(answer.status, status, answer.text)
    }
    const [task] = await gateway.sql`
      select h.amount from task t join hold h on h.id = t.hold_id
      where t.account_id = ${tenant.accountId} and t.kind = 'erase'`
    assert.equal(task?.amount, 300_000_000n, 'thirty seconds: none is longer')
  })

  test('billed by the seconds of the video, at the price of its resolution', async () => {
    const tenant = await gateway.tenant()
    for (const [resolution, charged] of [
      ['720p', '0.05'],
      ['1080p', '0.1'],
    ]) {
      const video = await stage.video(tenant, { resolution })
      const created = await stage.create(tenant, { video_task_id: video.id, model: 'erase-paid' })
      await stage.ended(tenant, created.json.id)
      const record = await gateway.record(created, tenant.key)
      assert.deepEqual([record.basis, record.held, record.charged], ['usage', charged, charged])
      assert.deepEqual(
        record.lines.map(({ unit, quantity }) => [unit, quantity]),
        [['second', 5]],
      )
    }
  })

  for (const model of ['erase-free', 'erase-promotion']) {
    test(`${model}: a usage record of zero with the seconds`, async () => {
      const tenant = await gateway.tenant({ balance: '0' })
      const video = await stage.video(tenant, { duration: 7 })
      const created = await stage.create(tenant, { video_task_id: video.id, model })
      await stage.ended(tenant, created.json.id)
      const record = await gateway.record(created, tenant.key)
      assert.deepEqual(
        [record.status, record.basis, record.held, record.charged],
        ['succeeded', 'usage', '0', '0'],
      )
      const [line] = record.lines
      assert.deepEqual([line?.unit, line?.quantity, line?.amount], ['second', 7, '0'])
    })
  }

  test('the model has a default, and the upstream’s id is accepted', async () => {
    const tenant = await gateway.tenant()
    const video = await stage.video(tenant)
    const created = await stage.create(tenant, { video_task_id: video.upstream_id })
    assert.equal(created.status, 200, created.text)
    const { json } = await gateway.get(`/v1/tasks/${created.json.id}/timeline`, tenant.key)
    assert.deepEqual([json.kind, json.model], ['erase', 'subtitle-erase'])
  })

  test('400 without a video, or with an invalid id', async () => {
    const tenant = await gateway.tenant()
    await refused(tenant, {}, 'video_task_id: required')
    await refused(tenant, { video_task_id: '' }, 'video_task_id: required, and not empty')
    await refused(tenant, { video_task_id: 7 }, 'video_task_id: must be a string')
  })

  test('400 for an unusable video with its reason, and nothing is held', async () => {
    const tenant = await gateway.tenant()
    const { sql } = gateway
    const video = await stage.video(tenant)
    const body = { video_task_id: video.id, model: 'erase-paid' }
    await sql`update task set finished_at = now() - interval '22 hours 55 minutes'
      where id = ${video.id}`
    assert.equal((await stage.create(tenant, body)).status, 200)
    await sql`update task set finished_at = now() - interval '23 hours' where id = ${video.id}`
    const old = 'video_task_id: the video was generated 23 hours ago or more'
    await refused(tenant, body, old)
    const deleted = await stage.video(tenant)
    const { json } = await gateway.get(`/v1/assets?task_id=${deleted.id}&kind=video`, tenant.key)
    await gateway.fetch(`/v1/assets/${json.data[0].id}`, { method: 'DELETE', key: tenant.key })
    const gone = 'video_task_id: the video was deleted'
    await refused(tenant, { ...body, video_task_id: deleted.id }, gone)
    const erased = await stage.create(tenant, {
      ...body,
      video_task_id: (await stage.video(tenant)).id,
    })
    const kind = 'video_task_id: is not the id of a video task'
    await refused(tenant, { ...body, video_task_id: erased.json.id }, kind)
    await stage.ended(tenant, erased.json.id)
    const before = await gateway.balance(tenant.accountId)
    const start = (fault: string) => {
      const content = [{ type: 'text', text: `a river [[fault:${fault}]]` }]
      return gateway.post('/v1/videos/generations', tenant.key, { model: 'a-video', content })
    }
    const endless = await start('never-ends')
    const running = { ...body, video_task_id: endless.json.id }
    await refused(tenant, running, 'video_task_id: the video task has not succeeded yet')
    const failed = await start('fail-task')
    const failing = { ...body, video_task_id: failed.json.id }
    await until('its failure', async () => {
      const path = `/v1/videos/generations/${failed.json.id}`
      return (await gateway.get(path, tenant.key)).json.status === 'failed' || undefined
    })
    await refused(tenant, failing, 'video_task_id: the video task has failed')
    assert.deepEqual(await gateway.balance(tenant.accountId), before)
  })

  test('the same 404 for foreign, unknown, malformed and removed videos', async () => {
    const tenant = await gateway.tenant()
    const other = await gateway.tenant()
    const foreign = await stage.video(other)
    const removed = await stage.video(tenant)
    await gateway.fetch(`/v1/videos/generations/${removed.id}`, {
      method: 'DELETE',
      key: tenant.key,
    })
    const unknown = 'task_0000000000000000000000'
    const ids = [foreign.id, foreign.upstream_id, unknown, 'ü', ' ', 'x'.repeat(500), removed.id]
    for (const id of ids) {
      const answer = await stage.create(tenant, { video_task_id: id })
      assert.equal(answer.status, 404, id)
      assert.deepEqual(answer.json, { error: 'no such task', type: 'not_found_error' })
    }
    const erased = await stage.create(other, { video_task_id: foreign.id, model: 'erase-free' })
    for (const id of [erased.json.id, foreign.id, unknown, '%00']) {
      assert.equal((await gateway.get(`${ERASE_PATH}/${id}`, tenant.key)).status, 404, id)
    }
    assert.equal((await gateway.get(`${ERASE_PATH}/${foreign.id}`, other.key)).status, 404)
  })

  test('a failure costs nothing and has its reason', async () => {
    const tenant = await gateway.tenant()
    const id = await stage.scripted(tenant, '[[fault:fail-task]]')
    const created = await stage.create(tenant, { video_task_id: id, model: 'erase-paid' })
    const done = await stage.ended(tenant, created.json.id)
    assert.equal(done.status, 'failed')
    assert.deepEqual(Object.keys(done.error).sort(), ['code', 'message'])
    assert.equal(done.video_url, undefined)
    const record = await gateway.record(created, tenant.key)
    assert.deepEqual([record.status, record.charged], ['failed', '0'])
    assert.equal((await gateway.balance(tenant.accountId)).held, 0n)
  })

  test('webhooks of success and failure, and the timeline', async (t) => {
    const tenant = await gateway.tenant()
    for (const [words, status] of [
      ['', 'succeeded'],
      ['[[fault:fail-task]]', 'failed'],
    ] as const) {
      const receiver = await startReceiver(t)
      const id = await stage.scripted(tenant, words)
      const created = await stage.create(tenant, {
        video_task_id: id,
        model: 'erase-paid',
        callback_url: receiver.url,
      })
      const got = await until('the webhook', () => receiver.received[0])
      const payload = JSON.parse(got.body.toString())
      const member = status === 'succeeded' ? 'video_url' : 'error'
      assert.deepEqual(Object.keys(payload), [
        'task_id',
        'kind',
        'status',
        'model',
        'video_task_id',
        member,
        'created_at',
        'finished_at',
        'charged',
        'currency',
      ])
      assert.deepEqual(
        [payload.task_id, payload.kind, payload.status, payload.model, payload.video_task_id],
        [created.json.id, 'erase', status, 'erase-paid', id],
      )
      if (status === 'failed') assert.equal(payload.error.code, 'task_failed')
      const path = `/v1/tasks/${created.json.id}/timeline`
      const events = await until('the callback in the timeline', async () => {
        const { json } = await gateway.get(path, tenant.key)
        const kinds = json.events.map((one: { event: string }) => one.event)
        return kinds.includes('callback') ? kinds : undefined
      })
      const money = status === 'succeeded' ? 'settled' : 'released'
      // A fast vendor may end before the first poll.
      const seen = events.filter((kind: string) => kind !== 'processing')
      assert.deepEqual(seen, ['held', 'submitted', status, money, 'callback'])
    }
  })

  for (const url of ['ftp://a.example/', 'http://u:p@a.example/', 'nonsense', 7]) {
    test(`400 for the callback_url ${url}`, async () => {
      const tenant = await gateway.tenant()
      const answer = await stage.create(tenant, { video_task_id: 'x', callback_url: url })
      assert.equal(answer.status, 400)
      assert.match(answer.json.error, /^callback_url: /)
    })
  }

  testCommonStatuses(() => withVideos(stage), {
    path: ERASE_PATH,
    body: { video_task_id: 'THE VIDEO', model: 'erase-paid' },
    other: { callback_url: null },
    model: 'erase-paid',
    envelope: 'flat',
    withWords: () => ({ video_task_id: 'THE BROKEN VIDEO', model: 'erase-paid' }),
    withModel: (model) => ({
      path: ERASE_PATH,
      body: { video_task_id: 'THE VIDEO', model },
    }),
  })

  /** Gives each tenant a video that another created, so that its own books do not change. */
  function withVideos({ gateway }: EraseStage): TestGateway {
    const videos = new Map<string, string>()
    return {
      ...gateway,
      async tenant(options) {
        const tenant = await gateway.tenant(options)
        const { id } = await stage.video(await gateway.tenant())
        await gateway.sql`update task set account_id = ${tenant.accountId} where id = ${id}`
        videos.set(tenant.key, id)
        return tenant
      },
      async post(path, key, body, headers) {
        const text = typeof body === 'string' ? body : JSON.stringify(body)
        const id = videos.get(key) ?? 'none'
        if (text.includes('THE BROKEN VIDEO')) {
          await gateway.sql`
            update task set result = jsonb_set(result, '{video_url}',
              '"https://media.example/[[fault:status=503]].mp4"') where id = ${id}`
        }
        const sent = text.replace(/THE (?:BROKEN )?VIDEO/, id)
        return gateway.post(path, key, sent, headers)
      },
    }
  }
})
