/**
 * kill -9 at every named line of a task's life. Another process takes over; the vendor's own book,
 * the ledger and what callers see must agree: one submission a call, one end, one charge or none.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { GatewayProcess } from '../support/gateway.ts'
import { type CrashStage, startCrashStage } from '../support/servers/crash-stage.ts'
import { until } from '../support/until.ts'
import { endLeases, QUICK, TEXT, VIDEO_PATH } from './stage.ts'
import { startVideoVendor, type VideoVendor } from './video-vendor.ts'

const CREATING = ['task-held', 'task-sending', 'task-sent', 'task-accepted']
const CANCELLING = ['task-cancel', 'task-cancelled']
const WORKING = ['task-poll', 'task-finish', 'task-finished']
/** How each ends: by whether the vendor had it, and whether its cancel was sent. */
const ENDINGS: Readonly<Record<string, string>> = {
  'task-held': 'failed',
  'task-sending': 'failed',
  'task-sent': 'succeeded',
  'task-accepted': 'succeeded',
  'task-cancel': 'succeeded',
  'task-cancelled': 'failed',
  'task-poll': 'succeeded',
  'task-finish': 'succeeded',
  'task-finished': 'succeeded',
}

/** One model each: the upstream's list is read by model, so lost submissions stay distinct. */
function catalogOf(url: string): object {
  const settings = { base_url: url, api_key: 'vendor-key' }
  return {
    channels: [{ id: 'video', upstream: 'ark', settings }],
    models: Object.keys(ENDINGS).map((id) => ({
      id,
      type: 'video',
      prices: [{ unit: 'output_token', per: 1_000_000, amount: '46' }],
      routes: [{ channel: 'video', upstream_model: `doubao-seedance-2-0-${id}` }],
    })),
  }
}

describe('killed at a named line', () => {
  let stage: CrashStage
  let vendor: VideoVendor

  before(async () => {
    vendor = await startVideoVendor()
    stage = await startCrashStage(catalogOf(vendor.url), QUICK)
  })
  after(async () => {
    await vendor.stop()
    await stage.stop()
  })

  const create = (gateway: GatewayProcess, model: string) =>
    stage.send(gateway.url + VIDEO_PATH, 'POST', { model, content: TEXT })

  async function untilAllEnded(): Promise<void> {
    const readOpen = () => stage.sql`select id, model, state from task where finished_at is null`
    await until('the end of every task', async () => (await readOpen()).length === 0).catch(
      async (error: unknown) => assert.fail(`${error}: ${JSON.stringify(await readOpen())}`),
    )
  }

  test('every failpoint: another process ends the task, and the three books agree', async () => {
    for (const name of CREATING) {
      const gateway = await stage.start({ ROLE: 'api', TRIBUTARY_FAIL: name })
      await assert.rejects(create(gateway, name), name)
      await gateway.exited
    }
    for (const name of CANCELLING) {
      const gateway = await stage.start({ ROLE: 'api', TRIBUTARY_FAIL: name })
      const { id } = (await (await create(gateway, name)).json()) as { id: string }
      await assert.rejects(stage.send(`${gateway.url}${VIDEO_PATH}/${id}`, 'DELETE'), name)
      await gateway.exited
    }
    vendor.advance = true
    const healthy = await stage.start({ ROLE: 'api' })
    for (const name of WORKING) {
      assert.equal((await create(healthy, name)).status, 200)
      const worker = await stage
        .start({ ROLE: 'worker', TRIBUTARY_FAIL: name })
        .catch(() => undefined)
      await worker?.exited
    }
    await healthy.stop(2_000)
    await endLeases(stage.sql)
    const survivor = await stage.start()
    await untilAllEnded()
    await survivor.stop(2_000)
    await compareBooks()
  })

  async function compareBooks(): Promise<void> {
    const rows = await stage.sql<{ model: string; state: string; charged: bigint }[]>`
      select t.model, t.state, c.charged from task t join call c on c.hold_id = t.hold_id`
    assert.equal(rows.length, Object.keys(ENDINGS).length, 'no task is lost')
    for (const { model, state, charged } of rows) {
      assert.equal(state, ENDINGS[model], model)
      assert.equal(charged, state === 'succeeded' ? 5_009_400_000n : 0n, model)
      const name = `doubao-seedance-2-0-${model}`
      const theirs = [...vendor.tasks.values()].filter((one) => one.model === name)
      const expected = model === 'task-held' || model === 'task-sending' ? 0 : 1
      assert.equal(theirs.length, expected, `${model}: submissions`)
    }
  }
})
