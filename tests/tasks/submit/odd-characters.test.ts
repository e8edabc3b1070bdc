/** Characters that no database can store, from callers and vendors, do not stop a task. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type ImageStage, startImageStage } from '../calls/image-stage.ts'
import { BODY, startTaskStage, type TaskStage } from '../stage.ts'

const ODD = 'a\0b\ud83d'
const STORED = 'a\ufffdb\ufffd'

describe('a video task with odd characters', () => {
  let stage: TaskStage
  before(async () => {
    stage = await startTaskStage()
  })
  after(() => stage.stop())

  test('in the request: created, and shown with what could be kept', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.advance = true
    const created = await stage.create(tenant, { ...BODY, safety_identifier: ODD })
    assert.equal(created.status, 200, created.text)
    await stage.until(tenant, created.json.id, 'succeeded')
    const [row] = await stage.gateway.sql`
      select request ->> 'safety_identifier' as kept from task where id = ${created.json.id}`
    assert.equal(row?.kept, STORED)
  })

  test('in the vendor’s reason: failed, paid back, and the reason is shown', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.advance = false
    const created = await stage.create(tenant)
    const task = stage.vendor.tasks.get(created.json.upstream_id)
    assert.ok(task)
    task.error = { code: ODD, message: ODD }
    task.status = 'failed'
    const done = await stage.until(tenant, created.json.id, 'failed')
    assert.deepEqual(done.error, { code: STORED, message: STORED })
    assert.equal((await stage.gateway.balance(tenant.accountId)).held, 0n)
  })

  test('in a refusal: the caller gets it, and the hold is released', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.fail('POST', 400, `InvalidParameter${ODD}`)
    assert.equal((await stage.create(tenant)).status, 400)
    assert.equal((await stage.gateway.balance(tenant.accountId)).held, 0n)
  })
})

describe('an image task with odd characters', () => {
  let stage: ImageStage
  before(async () => {
    stage = await startImageStage()
  })
  after(() => stage.stop())

  test('in what the vendor sends back of the prompt: succeeds, and is charged once', async () => {
    const tenant = await stage.gateway.tenant()
    const created = await stage.create(tenant, { prompt: ODD, quality: '\0' })
    assert.equal(created.status, 200, created.text)
    const done = await stage.until(tenant, created.json.id, 'succeeded')
    assert.equal(done.result.data[0].revised_prompt, STORED)
    assert.equal((await stage.gateway.record(created, tenant.key)).charged, '0.5')
    const { json } = await stage.gateway.get('/v1/gallery', tenant.key)
    assert.equal(json.data[0].prompt, STORED)
  })
})
