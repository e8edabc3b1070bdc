/** Hourly figures: every call is counted once, whenever it is committed and by any process. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Sql, TransactionSql } from 'postgres'
import { readSeries, readTop } from '../../server/money/usage/figures-store.ts'
import { describeLatency } from '../../server/money/usage/latency.ts'
import { startRollup } from '../../server/money/usage/rollup.ts'
import { countEndedCalls } from '../../server/money/usage/rollup-store.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const HOUR = 3600
const ACCOUNT = 'acct_counted'

let database: TestDatabase
let sql: Sql
let number = 0
before(async () => {
  database = await createTestDatabase()
  sql = database.sql
})
after(() => database.drop())
beforeEach(() => sql`truncate call, usage_hour, usage_part, latency_hour, latency_all, key_use`)
beforeEach(() => sql`update usage_watermark set counted_until = null, final_until = null`)

/** A call that ended `ago` seconds before the transaction that writes it. */
async function addCall(on: Sql | TransactionSql, ago: number, model = 'm'): Promise<void> {
  number += 1
  await on`
    insert into call (request_id, hold_id, account_id, key_id, endpoint, model, status, basis,
      currency, held, charged, returned, created_at, finished_at)
    values (${`req_${number}`}, ${`hold_${number}`}, ${ACCOUNT}, 'key_1', 'chat', ${model},
      'succeeded', 'usage', 'CNY', 10, 3, 7, now() - ${ago + 1}::int * interval '1 second',
      now() - ${ago}::int * interval '1 second')`
}

async function countAll(): Promise<void> {
  while (await countEndedCalls(sql, HOUR)) {
    // Step by step.
  }
}

async function readCounted(): Promise<number> {
  const [row] = await sql<{ calls: number }[]>`
    select coalesce(sum(calls), 0)::int as calls from usage_part where part = 'all'`
  return row?.calls ?? 0
}

async function readShown(): Promise<number> {
  const to = new Date(Date.now() + 60_000)
  const from = new Date(Date.now() - 40 * 86_400_000)
  const filter = { accountId: ACCOUNT, from, to }
  const series = await readSeries(sql, filter, { step: 'day', timeZone: 'UTC' })
  return series.reduce((sum, { calls }) => sum + Number(calls), 0)
}

describe('counting', () => {
  test('catches up over days without a call', async () => {
    for (const days of [30, 29, 3, 0]) await addCall(sql, days * 86_400 + 60)
    await countAll()
    assert.equal(await readCounted(), 4)
    await countAll()
    assert.equal(await readCounted(), 4)
  })

  test('counts each call once with several concurrent processes', async () => {
    for (let i = 0; i < 40; i++) await addCall(sql, 60 + i * 600)
    await Promise.all(Array.from({ length: 6 }, () => countAll()))
    await countAll()
    assert.equal(await readCounted(), 40)
    assert.equal(await readShown(), 40)
  })

  test('waits for a transaction that began before and ends after', async () => {
    await addCall(sql, 60)
    const written = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const late = sql.begin(async (transaction) => {
      await addCall(transaction, 0)
      written.resolve()
      await held.promise
    })
    await written.promise
    await addCall(sql, 0)
    await countAll()
    assert.equal(await readCounted(), 1)
    held.resolve()
    await late
    assert.equal(await readShown(), 3)
    // Later, both are final.
    await sql`update call set finished_at = finished_at - interval '5 seconds'
      where finished_at > now() - interval '30 seconds'`
    await sql`update usage_watermark set counted_until = counted_until - interval '5 seconds'`
    await countAll()
    assert.equal(await readCounted(), 3)
    assert.equal(await readShown(), 3)
  })

  test('counts nothing if it is interrupted', async () => {
    for (let i = 0; i < 5; i++) await addCall(sql, 60 + i)
    await sql`update usage_watermark set final_until = now()`
    const broken = sql.begin(async (transaction) => {
      await transaction`select count_ended_calls('1 hour')`
      throw new Error('killed')
    })
    await assert.rejects(broken, /killed/)
    assert.equal(await readCounted(), 0)
    assert.equal(await readShown(), 5)
    await countAll()
    assert.equal(await readCounted(), 5)
  })

  test('runs periodically, and a stop waits for it', async () => {
    for (let i = 0; i < 5; i++) await addCall(sql, 60 + i)
    const log = { warn: (_fields: object, message: string) => assert.fail(message) }
    const rollup = startRollup({ sql, log, everyMs: 20 })
    await until('five calls', async () => (await readCounted()) === 5)
    await rollup.stop()
    assert.equal(await readCounted(), 5)
  })
})

/** Runs turns until `transactions` have run. Returns the seconds of calls of each. */
async function readSteps(transactions: number, run: () => Promise<boolean>): Promise<number[]> {
  const steps: number[] = []
  const query = async (text: readonly string[], seconds: number) => {
    if (text.join('').includes('add_up_day')) return [{ more: false }]
    steps.push(seconds)
    return [{ more: await run() }]
  }
  const rollup = startRollup({ sql: query as unknown as Sql, log: { warn() {} }, everyMs: 1 })
  await until('the transactions', () => (steps.length >= transactions ? true : undefined))
  await rollup.stop()
  return steps
}

describe('a transaction of the counting', () => {
  test('becomes shorter while it takes long, to a bound', async () => {
    const steps = await readSteps(4, async () => {
      const start = performance.now()
      while (performance.now() < start + 25);
      return true
    })
    assert.deepEqual(steps.slice(0, 4), [1, 0.5, 0.25, 0.25])
  })

  test('becomes longer while it is fast, and the next turn starts anew', async () => {
    let left = 40
    const steps = await readSteps(50, async () => {
      left -= 1
      return left > 0
    })
    assert.ok(Math.max(...steps.slice(0, 40)) >= 4, `${steps}`)
    assert.ok((steps[40] ?? 0) <= 1, `${steps}`)
  })

  test('that times out counts a quarter, and what remains is counted', async () => {
    let attempts = 0
    const steps = await readSteps(3, async () => {
      attempts += 1
      if (attempts === 1) throw Object.assign(new Error('timeout'), { code: '57014' })
      return attempts < 3
    })
    assert.equal(steps[1], 0.25)
  })
})

test('figures by dimension add up to the total, counted or not', async () => {
  for (let i = 0; i < 9; i++) await addCall(sql, 60 + i, `model-${i % 3}`)
  await countAll()
  for (let i = 0; i < 4; i++) await addCall(sql, 0, `model-${i % 4}`)
  const filter = {
    accountId: ACCOUNT,
    from: new Date(Date.now() - 86_400_000),
    to: new Date(Date.now() + 60_000),
  }
  const top = await readTop(sql, filter, 'model', 10)
  const calls = Object.fromEntries(top.map((row) => [row.name, Number(row.calls)]))
  assert.deepEqual(calls, { 'model-0': 4, 'model-1': 4, 'model-2': 4, 'model-3': 1 })
  const narrowed = await readTop(sql, { ...filter, model: 'model-0' }, 'key', 10)
  assert.equal(Number(narrowed[0]?.calls), 4)
})

test('percentiles are within 10 %', () => {
  const bucketOf = (ms: number) => Math.floor(Math.log(ms) / Math.log(1.2))
  const rows = Array.from({ length: 1000 }, (_, index) => {
    return { bucket: bucketOf(index + 1), calls: 1n }
  })
  const { p50_ms: p50, p95_ms: p95 } = describeLatency(rows)
  assert.ok(Math.abs((p50 ?? 0) - 500) <= 50, `${p50}`)
  assert.ok(Math.abs((p95 ?? 0) - 950) <= 95, `${p95}`)
  assert.deepEqual(describeLatency([]), { p50_ms: null, p95_ms: null })
})
