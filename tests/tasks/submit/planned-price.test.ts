/** A hold from before a planned price is settled at its own price, whenever it ends. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { bringAbout } from '../../catalog/support.ts'
import type { Tenant } from '../../support/in-process.ts'
import { startServer } from '../../support/servers/local-server.ts'
import { until } from '../../support/until.ts'
import { CHARGE, startTaskStage, type TaskStage } from '../stage.ts'

const token = (amount: string) => [{ unit: 'output_token', per: 1_000_000, amount }]
const call = (amount: string) => [{ unit: 'call', amount }]
const DOUBLE = '10.0188'

async function plan({ gateway }: TaskStage, model: object, prices: object[]): Promise<Date> {
  const at = new Date(Date.now() + 3_600_000)
  const planned = [{ effective_from: at.toISOString(), prices }]
  await gateway.apply({ models: [{ ...model, planned_prices: planned }] }, 'planned')
  return at
}

/** A vendor that holds its answers until a test releases them. */
async function startPatientVendor() {
  const waiting: ServerResponse[] = []
  const server = await startServer((_request, response) => void waiting.push(response))
  const choices = [
    { index: 0, message: { role: 'assistant', content: 'y' }, finish_reason: 'stop' },
  ]
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  const body = JSON.stringify({ id: 'x', object: 'chat.completion', model: 'x', choices, usage })
  return {
    url: server.url,
    waitFor: (calls: number) => until(`${calls} calls`, () => waiting.length >= calls),
    answer() {
      for (const response of waiting) {
        response.setHeader('content-type', 'application/json').end(body)
      }
    },
    stop: server.stop,
  }
}

describe('a price that begins while work is under way', { concurrency: false }, () => {
  let stage: TaskStage
  let tenant: Tenant
  before(async () => {
    stage = await startTaskStage()
    tenant = await stage.gateway.tenant()
  })
  after(() => stage.stop())

  /** The gateway reads the plan anew, as it does after each change of the catalog. */
  async function begin(at: Date): Promise<void> {
    const { sql, gateway } = stage.gateway
    await bringAbout(sql, at)
    await sql`update catalog_revision set revision = revision + 1`
    await gateway.refreshCatalog()
  }

  async function succeed(created: Awaited<ReturnType<TaskStage['create']>>) {
    const task = stage.vendor.tasks.get(created.json.upstream_id) ?? assert.fail()
    task.status = 'succeeded'
    await stage.until(tenant, created.json.id, 'succeeded')
    return stage.gateway.record(created, tenant.key)
  }

  test('a task held before is settled at its own price, one held after at the new one', async () => {
    const model = {
      id: 'test-video',
      type: 'video',
      prices: token('46'),
      routes: [{ channel: 'video', upstream_model: 'doubao-seedance-2-0-260128' }],
    }
    const at = await plan(stage, model, token('92'))
    const early = await stage.create(tenant)
    await begin(at)
    const late = await stage.create(tenant)
    assert.equal((await succeed(late)).charged, DOUBLE)
    assert.equal((await succeed(early)).charged, CHARGE)
  })

  test('so is a call', async () => {
    const vendor = await startPatientVendor()
    const settings = { base_url: vendor.url, api_key: 'waits' }
    const channels = [{ id: 'patient', upstream: 'openai-compatible', settings }]
    await stage.gateway.apply({ channels }, 'patient')
    const model = {
      id: 'patient',
      type: 'chat',
      prices: call('1'),
      routes: [{ channel: 'patient' }],
    }
    const at = await plan(stage, model, call('2'))
    const body = { model: 'patient', messages: [{ role: 'user', content: 'x' }] }
    const ask = () => stage.gateway.post('/v1/chat/completions', tenant.key, body)
    const early = ask()
    await vendor.waitFor(1)
    await begin(at)
    const late = ask()
    await vendor.waitFor(2)
    vendor.answer()
    const charges = []
    for (const answer of [await early, await late]) {
      charges.push((await stage.gateway.record(answer, tenant.key)).charged)
    }
    assert.deepEqual(charges, ['1', '2'])
    await vendor.stop()
  })
})
