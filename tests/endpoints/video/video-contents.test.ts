/** The native video API on all four prefixes: the upstream's own ids and shapes. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  BODY,
  CONTENTS_PATH,
  startTaskStage,
  type TaskStage,
  VIDEO_PATH,
} from '../../tasks/stage.ts'

const PREFIXES = ['/v1', '/v3', '/api/v1', '/api/v3']

describe(CONTENTS_PATH, () => {
  let stage: TaskStage
  before(async () => {
    stage = await startTaskStage()
  })
  beforeEach(() => {
    stage.vendor.advance = false
  })
  after(() => stage.stop())

  for (const prefix of PREFIXES) {
    const path = `${prefix}/contents/generations/tasks`

    test(`${path}: create, get, list and delete in the native form`, async () => {
      const tenant = await stage.gateway.tenant()
      const { key } = tenant
      const created = await stage.create(tenant, BODY, path)
      assert.equal(created.status, 200, created.text)
      assert.deepEqual(Object.keys(created.json), ['id', 'model', 'status', 'created_at'])
      const { id } = created.json
      assert.match(id, /^cgt-/, 'the id is the upstream’s')
      const queued = await stage.gateway.get(`${path}/${id}`, key)
      assert.equal(queued.json.status, 'queued')
      assert.equal(queued.json.error, null)
      assert.equal(queued.json.id, id)
      assert.equal(queued.json.model, 'test-video')
      assert.ok(Number.isInteger(queued.json.created_at))
      const task = stage.vendor.tasks.get(id)
      assert.ok(task)
      task.status = 'running'
      await stage.until(tenant, id, 'processing')
      assert.equal((await stage.gateway.get(`${path}/${id}`, key)).json.status, 'running')
      const running = await stage.gateway.fetch(`${path}/${id}`, { method: 'DELETE', key })
      assert.equal(running.status, 409)
      task.status = 'succeeded'
      await stage.until(tenant, id, 'succeeded')
      const done = (await stage.gateway.get(`${path}/${id}`, key)).json
      assert.equal(done.status, 'succeeded')
      assert.deepEqual(done.content, { video_url: `https://media.example/${id}.mp4` })
      assert.deepEqual(done.usage, { completion_tokens: 108_900, total_tokens: 108_900 })
      assert.deepEqual([done.resolution, done.ratio, done.duration], ['720p', '16:9', 5])
      assert.equal(done.service_tier, 'default')
      const list = (await stage.gateway.get(`${path}?filter.status=succeeded`, key)).json
      assert.equal(list.total, 1)
      assert.equal(list.items[0].id, id)
      const deleted = await stage.gateway.fetch(`${path}/${id}`, { method: 'DELETE', key })
      assert.equal(deleted.status, 200)
      assert.equal(await deleted.text(), '{}')
      assert.equal((await stage.gateway.get(`${path}/${id}`, key)).status, 404)
    })
  }

  test('a task repeats what its request named', async () => {
    const tenant = await stage.gateway.tenant()
    const named = {
      priority: 4,
      tools: [{ type: 'web_search' }],
      execution_expires_after: 7200,
      safety_identifier: 'u-1',
      generate_audio: false,
    }
    const { id } = (await stage.create(tenant, { ...BODY, ...named }, CONTENTS_PATH)).json
    const shown = (await stage.gateway.get(`${CONTENTS_PATH}/${id}`, tenant.key)).json
    assert.deepEqual(
      Object.fromEntries(Object.keys(named).map((name) => [name, shown[name]])),
      named,
    )
    const sent = stage.vendor.tasks.get(id)?.body ?? {}
    assert.deepEqual([sent.priority, sent.tools], [named.priority, named.tools])
    const draft = { model: 'test-video-1', content: BODY.content, draft: true, seed: 7 }
    const preview = (await stage.create(tenant, draft, CONTENTS_PATH)).json
    const own = (await stage.gateway.get(`${CONTENTS_PATH}/${preview.id}`, tenant.key)).json
    assert.deepEqual([own.draft, own.seed], [true, 7])
  })

  test('both ids are accepted on both paths', async () => {
    const tenant = await stage.gateway.tenant()
    const created = await stage.create(tenant)
    const { id, upstream_id: upstreamId } = created.json
    for (const eitherId of [id, upstreamId]) {
      const native = await stage.gateway.get(`${CONTENTS_PATH}/${eitherId}`, tenant.key)
      assert.equal(native.json.id, upstreamId)
      assert.equal((await stage.gateway.get(`${VIDEO_PATH}/${eitherId}`, tenant.key)).json.id, id)
    }
  })

  test('the list filters by ids, model and status, and pages', async () => {
    const tenant = await stage.gateway.tenant()
    const ids: string[] = []
    for (let count = 0; count < 3; count += 1) {
      ids.unshift((await stage.create(tenant, BODY, CONTENTS_PATH)).json.id)
    }
    const ask = async (query: string) =>
      (await stage.gateway.get(`${CONTENTS_PATH}?${query}`, tenant.key)).json
    const idsOf = (list: { items: { id: string }[] }) => list.items.map((one) => one.id)
    assert.deepEqual(idsOf(await ask('page_size=2')), ids.slice(0, 2))
    assert.deepEqual(idsOf(await ask('page_size=2&page_num=2')), ids.slice(2))
    assert.equal((await ask('page_size=2')).total, 3)
    const two = `filter.task_ids=${ids[0]}&filter.task_ids=${ids[2]}`
    assert.deepEqual(idsOf(await ask(two)), [ids[0], ids[2]])
    assert.deepEqual(idsOf(await ask('filter.model=other')), [])
    assert.equal((await stage.gateway.get(`${CONTENTS_PATH}?page_num=0`, tenant.key)).status, 400)
  })

  test('the list distinguishes failed, cancelled and expired, and filters by tier', async () => {
    const tenant = await stage.gateway.tenant()
    const body = { model: 'test-video-1', content: BODY.content }
    const begin = async (extra = {}) => {
      const { id } = (await stage.create(tenant, { ...body, ...extra }, CONTENTS_PATH)).json
      return { id: id as string, vendorTask: stage.vendor.tasks.get(id) }
    }
    const failed = await begin()
    const expired = await begin({ service_tier: 'flex' })
    const cancelled = await begin()
    assert.ok(failed.vendorTask && expired.vendorTask)
    failed.vendorTask.status = 'failed'
    expired.vendorTask.status = 'expired'
    const path = `${CONTENTS_PATH}/${cancelled.id}`
    await stage.gateway.fetch(path, { method: 'DELETE', key: tenant.key })
    for (const { id } of [failed, expired]) await stage.until(tenant, id, 'failed')
    const ask = async (query: string) => {
      const { json } = await stage.gateway.get(`${CONTENTS_PATH}?${query}`, tenant.key)
      return json.items.map(({ id, status }: { id: string; status: string }) => [id, status])
    }
    for (const [status, { id }] of Object.entries({ failed, expired, cancelled })) {
      assert.deepEqual(await ask(`filter.status=${status}`), [[id, status]])
    }
    assert.deepEqual(await ask('filter.service_tier=flex'), [[expired.id, 'expired']])
    assert.equal((await ask('filter.service_tier=default')).length, 2)
  })

  test('a repeated cancellation is refused and removes nothing', async () => {
    const tenant = await stage.gateway.tenant()
    const { id } = (await stage.create(tenant, BODY, CONTENTS_PATH)).json
    const remove = () =>
      stage.gateway.fetch(`${CONTENTS_PATH}/${id}`, { method: 'DELETE', key: tenant.key })
    assert.equal((await remove()).status, 200)
    assert.equal((await remove()).status, 409)
    const { json } = await stage.gateway.get(`${CONTENTS_PATH}/${id}`, tenant.key)
    assert.equal(json.status, 'cancelled')
  })

  test('the same 404 for foreign, unknown and malformed ids, in get and delete', async () => {
    const tenant = await stage.gateway.tenant()
    const { id } = (await stage.create(tenant, BODY, CONTENTS_PATH)).json
    const other = await stage.gateway.tenant()
    const bodies = new Set<string>()
    for (const eitherId of [id, 'cgt-20200101000000-abcde', '%20', '%ff', 'x'.repeat(5000)]) {
      for (const method of ['GET', 'DELETE']) {
        const path = `${CONTENTS_PATH}/${eitherId}`
        const answer = await stage.gateway.fetch(path, { method, key: other.key })
        assert.equal(answer.status, 404, eitherId)
        bodies.add((await answer.text()).replace(/req_\w+/, 'req_'))
      }
    }
    assert.equal(bodies.size, 1)
    assert.equal(stage.vendor.tasks.get(id)?.status, 'queued', 'and nothing was cancelled')
  })
})
