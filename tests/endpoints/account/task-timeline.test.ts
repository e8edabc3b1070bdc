/** GET /v1/tasks/{id}/timeline: for the task's own account, by either id. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startTaskStage, type TaskStage } from '../../tasks/stage.ts'

describe('/v1/tasks/{id}/timeline', () => {
  let stage: TaskStage
  before(async () => {
    stage = await startTaskStage()
  })
  after(() => stage.stop())

  test('200 with every step, without our channels', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.advance = true
    const { id, upstream_id: upstreamId } = (await stage.create(tenant)).json
    await stage.until(tenant, id, 'succeeded')
    const answer = await stage.gateway.get(`/v1/tasks/${id}/timeline`, tenant.key)
    assert.equal(answer.status, 200)
    assert.equal(answer.json.status, 'succeeded')
    assert.equal(answer.json.kind, 'video')
    const events = answer.json.events.map(({ event }: { event: string }) => event)
    assert.deepEqual(events, ['held', 'submitted', 'processing', 'succeeded', 'settled'])
    assert.equal(answer.json.events[4].charged, '5.0094')
    assert.ok(!answer.text.includes('"channel"'))
    const same = await stage.gateway.get(`/v1/tasks/${upstreamId}/timeline`, tenant.key)
    assert.equal(same.text, answer.text)
  })

  test('401 without a key; 404 for foreign and unknown tasks', async () => {
    const tenant = await stage.gateway.tenant()
    const { id } = (await stage.create(tenant)).json
    assert.equal((await stage.gateway.get(`/v1/tasks/${id}/timeline`, '')).status, 401)
    const other = await stage.gateway.tenant()
    const foreign = await stage.gateway.get(`/v1/tasks/${id}/timeline`, other.key)
    const unknown = await stage.gateway.get('/v1/tasks/none/timeline', other.key)
    assert.equal(foreign.status, 404)
    assert.equal(foreign.text, unknown.text)
  })
})
