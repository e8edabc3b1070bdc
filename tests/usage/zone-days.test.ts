/** Figures by day are exact in zones that lie half and quarter hours from UTC. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Sql } from 'postgres'
import { readRevenueSeries } from '../../server/api/admin/operator/overview/store.ts'
import {
  readGroupedSeries,
  readLatency,
  readSeries,
  readTop,
} from '../../server/money/usage/figures-store.ts'
import { countEndedCalls } from '../../server/money/usage/rollup-store.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

const ACCOUNT = 'acct_zones'
const SECONDS_ALL = 400 * 86_400
/** With a change to summer time in Adelaide and on Lord Howe, whose summer is half an hour. */
const FIRST = '2025-10-03T00:00:00Z'
const ZONES = [
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Adelaide',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'America/St_Johns',
  'UTC',
]

let database: TestDatabase
let sql: Sql
before(async () => {
  database = await createTestDatabase()
  sql = database.sql
  // A call every five minutes over five days, each with a charge of its own.
  await sql`
    insert into call (request_id, hold_id, account_id, key_id, endpoint, model, status, basis,
      currency, held, charged, returned, created_at, finished_at)
    select 'req_' || n, 'hold_' || n, ${ACCOUNT}, 'key_1', 'chat', 'model_' || n % 3, 'succeeded',
      'usage', 'CNY', 2000, n, 2000 - n, at, at + interval '1 second'
    from generate_series(0, 5 * 288 - 1) n,
      lateral (select ${FIRST}::timestamptz + n * interval '5 minutes' as at) t`
})
after(() => database.drop())

interface Day {
  readonly at: Date
  readonly calls: bigint
  readonly charged: bigint
}

const textOf = (days: readonly Day[]) =>
  days.map(({ at, calls, charged }) => `${at.toISOString()} ${calls} ${charged}`)

/** Adds up the rows of calls themselves, over three whole days of the zone. */
async function readTrue(zone: string, step: 'day' | 'hour') {
  const [span] = await sql<[{ from: Date; to: Date }]>`
    select '2025-10-04'::timestamp at time zone ${zone} as from,
      '2025-10-07'::timestamp at time zone ${zone} as to`
  const days = await sql<Day[]>`
    select date_trunc(${step}, created_at, ${zone}) as at, count(*)::bigint as calls,
      sum(charged)::bigint as charged
    from call where created_at >= ${span.from} and created_at < ${span.to} group by 1 order by 1`
  return { span, days }
}

async function judge(zone: string): Promise<void> {
  for (const step of ['day', 'hour'] as const) {
    const { span, days } = await readTrue(zone, step)
    const filter = { accountId: ACCOUNT, ...span }
    const by = { step, timeZone: zone }
    const expected = textOf(days)
    assert.ok(expected.length >= 3)
    assert.deepEqual(textOf(await readSeries(sql, filter, by)), expected)
    const named = { ...filter, endpoint: 'chat', keyIds: ['key_1'] }
    assert.deepEqual(textOf(await readSeries(sql, named, by)), expected)
    const parts = { ...by, part: 'key', names: ['key_1'] } as const
    assert.deepEqual(textOf(await readGroupedSeries(sql, filter, parts)), expected)
    const revenue = await readRevenueSeries(sql, span, by)
    const summed = revenue.map(({ at, calls, revenue: charged }) => ({ at, calls, charged }))
    assert.deepEqual(textOf(summed), expected)
    const latency = await readLatency(sql, filter, by)
    assert.deepEqual(
      latency.map(({ at, calls }) => `${at.toISOString()} ${calls}`),
      days.map(({ at, calls }) => `${at.toISOString()} ${calls}`),
    )
    const [top] = await readTop(sql, filter, 'endpoint', 5)
    assert.equal(
      top?.charged,
      days.reduce((sum, { charged }) => sum + charged, 0n),
    )
  }
}

describe('days of a time zone', () => {
  for (const zone of ZONES) test(`${zone}, before the calls are counted`, () => judge(zone))

  test('once half of the calls are counted', async () => {
    await countEndedCalls(sql, 2.6 * 86_400)
    for (const zone of ZONES) await judge(zone)
  })

  test('once all are counted', async () => {
    while (await countEndedCalls(sql, SECONDS_ALL)) {
      // Step by step.
    }
    const [row] = await sql`select count(*)::int as rows from usage_part where part = 'all'`
    assert.equal(row?.rows, 5 * 96)
    for (const zone of ZONES) await judge(zone)
  })

  test('a call that was counted by whole hours is taken out of the row of its hour', async () => {
    const [hour, quarter] = ['2025-10-03T00:00:00Z', '2025-10-03T00:45:00Z']
    await sql`truncate usage_hour, usage_part`
    const count = async (slot: string, calls: number) => {
      await sql`
        insert into usage_hour (account_id, hour, model, key_id, endpoint, calls, errors, cancelled,
          charged)
        values (${ACCOUNT}, ${slot}, 'model_0', 'key_1', 'chat', ${calls}, 0, 0, ${calls * 9})`
      await sql`
        insert into usage_part (account_id, part, name, hour, calls, errors, cancelled, charged,
          largest)
        select ${ACCOUNT}, part, name, ${slot}, ${calls}, 0, 0, ${calls * 9}, 9
        from (values ('all', ''), ('model', 'model_0'), ('key', 'key_1'), ('endpoint', 'chat'))
          as p(part, name)`
    }
    const read = async (slot: string) => {
      const rows = await sql`
        select calls::int as calls, charged::int as charged from usage_hour where hour = ${slot}
        union all
        select calls::int, charged::int from usage_part where hour = ${slot}`
      return [...new Set(rows.map(({ calls, charged }) => `${calls} ${charged}`))]
    }
    const takeOut = () => sql`select uncount_call(c) from call c where request_id = 'req_9'`
    await count(hour, 3)
    await takeOut()
    assert.deepEqual(await read(hour), ['2 18'])
    await count(quarter, 1)
    await takeOut()
    assert.deepEqual([await read(hour), await read(quarter)], [['2 18'], ['0 0']])
  })
})
