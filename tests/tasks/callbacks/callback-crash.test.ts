/**
 * kill -9 between the two halves of an adoption: a gateway dies after recording a callback and
 * before responding, or while it follows the callback. Another one ends the task.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { GatewayProcess } from '../../support/gateway.ts'
import { type CrashStage, startCrashStage } from '../../support/servers/crash-stage.ts'
import { until } from '../../support/until.ts'
import { BODY, endLeases, QUICK, VIDEO_PATH } from '../stage.ts'
import { startVideoVendor, type VendorTask, type VideoVendor } from '../video-vendor.ts'

interface Row {
  readonly state: string
  readonly upstream_id: string | null
  readonly callback_upstream_id: string | null
  readonly charged: bigint | null
}

describe('killed while a callback is followed', () => {
  let stage: CrashStage
  let vendor: VideoVendor
  before(async () => {
    vendor = await startVideoVendor()
    vendor.lists = false
    const settings = { base_url: vendor.url, api_key: 'vendor-key' }
    const prices = [{ unit: 'output_token', per: 1_000_000, amount: '46' }]
    const routes = [{ channel: 'video', upstream_model: 'doubao-seedance-2-0-260128' }]
    const content = {
      channels: [{ id: 'video', upstream: 'ark', settings }],
      models: [{ id: 'test-video', type: 'video', prices, routes }],
    }
    const own = { PUBLIC_URL: 'https://gateway.example', TASK_UNKNOWN_MS: '20000' }
    stage = await startCrashStage(content, { ...QUICK, ...own })
  })
  after(async () => {
    await vendor.stop()
    await stage.stop()
  })

  /** Returns the vendor's task of a submission whose gateway died before the answer arrived. */
  async function loseOne(): Promise<VendorTask> {
    const gateway = await stage.start({ ROLE: 'api', TRIBUTARY_FAIL: 'task-sent' })
    await assert.rejects(stage.send(gateway.url + VIDEO_PATH, 'POST', BODY))
    await gateway.exited
    const task = [...vendor.tasks.values()].at(-1)
    assert.ok(task)
    return task
  }

  function sendCallback(gateway: GatewayProcess, task: VendorTask): Promise<Response> {
    const { pathname } = new URL(String(task.body.callback_url))
    return fetch(gateway.url + pathname, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: task.id, status: 'running' }),
    })
  }

  async function rows(): Promise<Row[]> {
    return await stage.sql<Row[]>`
      select t.state, a.upstream_id, a.callback_upstream_id, c.charged from task t
      join task_attempt a on a.id = t.attempt_id
      left join call c on c.hold_id = t.hold_id and t.finished_at is not null
      order by t.created_at`
  }

  test('a recorded callback is followed by the next gateway', async () => {
    const first = await loseOne()
    const receiving = await stage.start({ ROLE: 'api', TRIBUTARY_FAIL: 'task-callback' })
    await assert.rejects(sendCallback(receiving, first), 'killed before it answered')
    await receiving.exited
    assert.equal((await rows())[0]?.callback_upstream_id, first.id)

    const second = await loseOne()
    const api = await stage.start({ ROLE: 'api' })
    assert.equal((await sendCallback(api, second)).status, 200)
    await api.stop(2_000)
    const worker = await stage
      .start({ ROLE: 'worker', TRIBUTARY_FAIL: 'task-poll' })
      .catch(() => undefined)
    await worker?.exited

    for (const task of vendor.tasks.values()) task.status = 'succeeded'
    await endLeases(stage.sql)
    const survivor = await stage.start()
    const ended = await until('both at their end', async () => {
      const found = await rows()
      return found.every(({ charged }) => charged !== null) ? found : undefined
    })
    await survivor.stop(2_000)
    assert.deepEqual(
      ended.map(({ state, upstream_id: id, charged }) => [state, id, charged]),
      [first, second].map(({ id }) => ['succeeded', id, 5_009_400_000n]),
    )
    assert.equal(vendor.tasks.size, 2, 'nothing was submitted again')
  })
})
