/** Upstream costs, from the catalog to usage records and figures, with a whole gateway. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  startTestGateway,
  type Tenant,
  type TestAnswer,
  type TestGateway,
} from '../support/in-process.ts'
import { countAllCalls } from './count-all.ts'

const SPEND = { input_token: 2_000n, output_token: 50_000n }

function costs(input = '2', output = '50') {
  return [
    { unit: 'input_token', per: 1_000_000, amount: input },
    { unit: 'output_token', per: 1_000_000, amount: output },
  ]
}

function shop(id: string, change: object = {}, route: object = { costs: costs() }) {
  return {
    models: [
      {
        id,
        type: 'chat',
        prices: [
          { unit: 'input_token', per: 1_000_000, amount: '3' },
          { unit: 'output_token', per: 1_000_000, amount: '60' },
        ],
        routes: [{ channel: 'sim-openai', upstream_model: 'sim-chat', ...route }],
        ...change,
      },
    ],
  }
}

interface Kept {
  readonly charged: bigint
  readonly cost: bigint | null
  readonly upstream_cost_version: bigint | null
  readonly lines: readonly { unit: 'input_token' | 'output_token'; quantity: number }[]
}

describe('costs', { concurrency: false }, () => {
  let gateway: TestGateway
  let tenant: Tenant
  before(async () => {
    gateway = await startTestGateway()
    tenant = await gateway.tenant()
  })
  after(() => gateway.stop())

  const call = (model: string, more: object = {}) =>
    gateway.post('/v1/chat/completions', tenant.key, {
      model,
      messages: [{ role: 'user', content: 'What is a river?' }],
      ...more,
    })

  async function kept(answer: TestAnswer): Promise<Kept> {
    await gateway.record(answer, tenant.key).catch(() => undefined)
    const id = answer.headers.get('x-request-id') ?? ''
    const [row] = await gateway.sql<Kept[]>`
      select charged, upstream_cost as cost, upstream_cost_version, lines from call where request_id = ${id}`
    return row ?? assert.fail(`no record of ${id}`)
  }

  const fromLines = ({ lines }: Kept) =>
    lines.reduce((sum, { unit, quantity }) => sum + (SPEND[unit] ?? 0n) * BigInt(quantity), 0n)

  test('a call keeps its cost, computed from the lines of its charge', async () => {
    await gateway.apply(shop('costed'), 'costed')
    for (const stream of [false, true]) {
      const answer = await call('costed', { stream })
      assert.equal(answer.status, 200)
      const row = await kept(answer)
      assert.ok(row.charged > 0n && row.lines.length === 2)
      assert.equal(row.cost, fromLines(row))
      assert.notEqual(row.upstream_cost_version, null)
    }
  })

  test('a route without costs records null, and a refused call zero', async () => {
    await gateway.apply(shop('unknown', {}, {}), 'unknown')
    const unknown = await kept(await call('unknown'))
    assert.ok(unknown.charged > 0n)
    assert.deepEqual([unknown.cost, unknown.upstream_cost_version], [null, null])
    const lost = { channel: 'sim-openai', upstream_model: 'no-such-model', costs: costs() }
    await gateway.apply(shop('refused', { routes: [lost] }), 'refused')
    const refused = await call('refused')
    assert.ok(refused.status >= 400)
    const { charged, cost } = await kept(refused)
    assert.deepEqual([charged, cost], [0n, 0n])
  })

  test('each call counts by the costs of its time', async () => {
    await gateway.apply(shop('moving'), 'moving')
    const first = await kept(await call('moving'))
    await gateway.apply(shop('moving', {}, { costs: costs('4', '100') }), 'moving')
    const second = await kept(await call('moving'))
    assert.equal(first.cost, fromLines(first))
    assert.equal(second.cost, fromLines(second) * 2n)
    assert.ok((second.upstream_cost_version ?? 0n) > (first.upstream_cost_version ?? 0n))
  })

  test('a free model has an upstream cost, in the account’s currency only', async () => {
    await gateway.apply(shop('gift', { free: true, prices: [] }), 'gift')
    const row = await kept(await call('gift'))
    assert.equal(row.charged, 0n)
    assert.ok(row.cost !== null && row.cost > 0n)
    const foreign = shop('gift-abroad', { free: true, prices: [] })
    await gateway.apply({ ...foreign, currency: 'USD' }, 'gift-abroad')
    assert.equal((await kept(await call('gift-abroad'))).cost, null)
  })

  test('hourly figures add up to the records, and count unknown costs', async () => {
    const { sql } = gateway
    await countAllCalls(sql)
    const sums = await sql`
      select 'records' as what, sum(charged)::bigint as charged, sum(upstream_cost)::bigint as cost,
        sum(charged) filter (where upstream_cost is null)::bigint as uncosted from call
      union all
      select 'channels', sum(charged)::bigint, sum(upstream_cost)::bigint, sum(uncosted)::bigint
      from channel_hour
      union all
      select 'hours', sum(charged)::bigint, sum(upstream_cost)::bigint, sum(uncosted)::bigint
      from usage_hour`
    const [records, channels, hours] = sums.map(({ charged, cost, uncosted }) => [
      charged,
      cost,
      uncosted,
    ])
    assert.ok(records?.every((sum) => sum > 0n))
    assert.deepEqual(channels, records)
    assert.deepEqual(hours, records)
    const named = await sql`select distinct channel from channel_hour`
    assert.deepEqual(
      named.map(({ channel }) => channel),
      ['sim-openai'],
    )
  })
})
