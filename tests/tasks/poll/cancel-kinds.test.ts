/** Tasks without a driver are cancelled from the console: calls that wait, and responses. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { WORKER_SLOTS } from '../../../server/work/tasks/poll/worker.ts'
import { type AdminStage, startAdmin } from '../../admin/support.ts'
import type { Tenant } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { type ImageVendor, startImageVendor } from '../calls/image-vendor.ts'
import { QUICK } from '../stage.ts'

describe('cancelling a task without a driver', () => {
  let stage: AdminStage
  let vendor: ImageVendor
  let tenant: Tenant
  before(async () => {
    vendor = await startImageVendor()
    stage = await startAdmin({ ...QUICK, ALLOW_PRIVATE_TARGETS: 'true' })
    const settings = { base_url: vendor.url, api_key: 'vendor-key' }
    const simulated = { base_url: `${stage.simulators.url}/openai/v1`, api_key: 'sim-openai-key' }
    await stage.apply({
      channels: [
        { id: 'images', upstream: 'openai-compatible', settings },
        { id: 'responses', upstream: 'openai-compatible', settings: simulated },
      ],
      models: [
        {
          id: 'piece',
          type: 'image',
          prices: [{ unit: 'image', amount: '0.5' }],
          routes: [{ channel: 'images', upstream_model: 'p-1' }],
        },
        {
          id: 'later',
          type: 'chat',
          prices: ['input_token', 'output_token'].map((unit) => ({
            unit,
            per: 1_000,
            amount: '1',
          })),
          routes: [{ channel: 'responses', upstream_model: 'sim-chat' }],
        },
      ],
    })
    tenant = await stage.house('home')
  })
  after(async () => {
    await stage.stop()
    await vendor.stop()
  })

  const at = (id: string) => ({
    as: 'home-owner',
    params: { account_id: tenant.accountId, task_id: id },
  })
  const cancel = (id: string) =>
    stage.ask('POST /accounts/:account_id/tasks/:task_id/cancel', at(id))
  const untilIs = (id: string, status: string) =>
    until(`${id} as ${status}`, async () => {
      const task = await stage.read('GET /accounts/:account_id/tasks/:task_id', at(id))
      return task.status === status ? task : undefined
    })

  test('a call that waits is cancelled; one under way goes on, and is charged', async () => {
    vendor.waits = true
    const slots = WORKER_SLOTS.callsPerChannel
    const ids: string[] = []
    for (let count = 0; count <= slots; count += 1) {
      const body = { model: 'piece', prompt: 'a river' }
      ids.push((await stage.post('/v1/images/async', tenant.key, body)).json.id)
    }
    await until('all slots in use', () => vendor.waiting.length === slots)
    const rows = await Promise.all(
      ids.map((id) => stage.read('GET /accounts/:account_id/tasks/:task_id', at(id))),
    )
    const waiting = rows.find(({ status }) => status === 'queued')
    const running = rows.find(({ status }) => status === 'processing')
    assert.ok(waiting && running)

    const refused = await cancel(running.id)
    assert.equal(refused.status, 409)
    assert.match(refused.text, /only a queued task can be cancelled/)
    const cancelled = await cancel(waiting.id)
    assert.equal(cancelled.status, 200, cancelled.text)
    assert.deepEqual([cancelled.json.status, cancelled.json.charged], ['failed', '0'])
    assert.equal((await cancel(waiting.id)).status, 409, 'once')

    vendor.letGo()
    assert.equal((await untilIs(running.id, 'succeeded')).charged, '0.5')
    await Promise.all(ids.filter((id) => id !== waiting.id).map((id) => untilIs(id, 'succeeded')))
    assert.equal(vendor.requests.get('p-1')?.length, slots)
    assert.equal((await stage.balance(tenant.accountId)).held, 0n)
  })

  test('a response in the background is cancelled at its vendor', async () => {
    const created = await stage.post('/v1/responses', tenant.key, {
      model: 'later',
      input: '[[call:waiting]][[fault:queue-time=600000]]',
      background: true,
    })
    assert.equal(created.status, 200, created.text)
    const list = await stage.read('GET /accounts/:account_id/tasks', {
      as: 'home-owner',
      params: { account_id: tenant.accountId },
      query: { kind: 'response' },
    })
    const id = list.data[0]?.id ?? ''
    const answer = await cancel(id)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual([answer.json.status, answer.json.charged], ['failed', '0'])
    const path = `/v1/responses/${created.json.id}`
    assert.equal((await stage.get(path, tenant.key)).json.status, 'cancelled')
  })
})
