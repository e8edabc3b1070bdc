/** Days have the sums of their quarters, whatever is counted or taken out after they are added. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from 'postgres'
import { summariseUsage } from '../../server/api/admin/account/usage/usage-summary.ts'
import {
  readTopAccounts,
  readTopChannels,
  readTopModels,
} from '../../server/api/admin/operator/overview/store.ts'
import { addUpDay, countEndedCalls } from '../../server/money/usage/rollup-store.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const DAY_MS = 86_400_000
const QUARTER_MS = 900_000
const FIRST_MS = Date.parse('2026-03-27T00:00:00Z')
const DAYS = 5
const ACCOUNTS = ['acct_days1', 'acct_days2', 'acct_days3']
const ZONES = ['UTC', 'Asia/Shanghai', 'Asia/Kathmandu', 'Europe/Berlin', 'Australia/Adelaide']

let database: TestDatabase
let sql: Sql
let number = 0
before(async () => {
  database = await createTestDatabase()
  sql = database.sql
  for (const id of ACCOUNTS) {
    await sql`insert into account (id, name) values (${id}, ${id})`
    await sql`insert into balance (account_id, currency) values (${id}, 'CNY')`
  }
})
after(() => database.drop())

const call = fc.record({
  account_id: fc.constantFrom(...ACCOUNTS),
  model: fc.constantFrom('m1', 'm2', 'm3'),
  key_id: fc.constantFrom('k1', 'k2'),
  endpoint: fc.constantFrom('chat', 'speech'),
  status: fc.constantFrom('succeeded', 'succeeded', 'failed', 'cancelled'),
  charged: fc.integer({ min: 0, max: 1000 }),
  upstream_cost: fc.option(fc.integer({ min: 0, max: 900 })),
  channel: fc.constantFrom('one', 'two'),
  tags: fc.constantFrom<readonly string[]>([], ['a'], ['a', 'b']),
  minutes: fc.integer({ min: 0, max: DAYS * 24 * 60 - 1 }),
})
type Call = typeof call extends fc.Arbitrary<infer T> ? T : never

/** Calls end when they begin, or, the late ones, now. */
async function addCalls(calls: readonly Call[], isLate: boolean): Promise<void> {
  const rows = calls.map(({ minutes, channel, tags, ...row }) => {
    number += 1
    const at = new Date(FIRST_MS + minutes * 60_000)
    return {
      ...row,
      request_id: `req_${number}`,
      hold_id: `hold_${number}`,
      basis: 'usage',
      currency: 'CNY',
      held: 1000,
      returned: 1000 - row.charged,
      attempts: sql.json([{ channel }]),
      labels: tags.length > 0 ? sql.json({ tags }) : null,
      created_at: at,
      finished_at: isLate ? new Date(Date.now() + 2) : new Date(at.getTime() + 1000),
    }
  })
  await sql`insert into call ${sql(rows)}`
}

/** Gives a counted call another charge, as a late settlement does. */
async function correct(n: number, charged: number): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`select from usage_watermark for update`
    await transaction`
      select uncount_call(c) from call c, usage_watermark w
      where c.request_id = ${`req_${n}`} and c.finished_at < w.counted_until`
    await transaction`
      update call set charged = ${charged}, status = 'succeeded', finished_at = now()
      where request_id = ${`req_${n}`}`
  })
}

const step = fc.oneof(
  fc.record({ do: fc.constant('add' as const), calls: fc.array(call, { maxLength: 12 }) }),
  fc.record({
    do: fc.constant('correct' as const),
    place: fc.double({ min: 0, max: 1, noNaN: true }),
    charged: fc.integer({ min: 0, max: 999 }),
  }),
  fc.record({ do: fc.constant('count' as const), hours: fc.integer({ min: 1, max: 48 }) }),
  fc.record({ do: fc.constant('addUp' as const), accounts: fc.integer({ min: 1, max: 4 }) }),
)

async function run(one: typeof step extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
  if (one.do === 'add') {
    if (one.calls.length > 0) await addCalls(one.calls, true)
  } else if (one.do === 'correct') {
    await correct(1 + Math.floor(one.place * (number - 1)), one.charged)
  } else if (one.do === 'count') {
    // Calls that have just ended are counted, too.
    await sql`update usage_watermark set final_until = now()`
    await countEndedCalls(sql, one.hours * 3600)
  } else await sql`select add_up_day(${one.accounts})`
}

const DIMENSIONS = {
  usage_hour: ['account_id', 'model', 'key_id', 'endpoint'],
  latency_hour: ['account_id', 'model', 'bucket'],
  usage_tags: ['account_id', 'tags', 'model', 'key_id', 'endpoint'],
  channel_hour: ['channel', 'model', 'currency'],
} as const
const MEASURES = {
  usage_hour: ['calls', 'errors', 'cancelled', 'charged', 'upstream_cost', 'uncosted'],
  latency_hour: ['calls'],
  usage_tags: ['calls', 'errors', 'cancelled', 'charged'],
  channel_hour: ['calls', 'errors', 'charged', 'upstream_cost', 'uncosted'],
} as const
const DAY_TABLES = {
  usage_hour: 'usage_day',
  latency_hour: 'latency_day',
  usage_tags: 'tags_day',
  channel_hour: 'channel_day',
} as const

/** The days have exactly what the quarters have. */
async function compareTables(): Promise<number> {
  let rows = 0
  for (const table of Object.keys(DAY_TABLES) as (keyof typeof DAY_TABLES)[]) {
    const dimensions = DIMENSIONS[table].join(', ')
    const sums = MEASURES[table].map((name) => `sum(${name})::text as ${name}`).join(', ')
    const read = async (from: string, day: string) =>
      await sql.unsafe(`
        select ${day} as day, ${dimensions}, ${sums} from ${from}
        where ${day} < (select days_until from usage_watermark)
        group by 1, ${dimensions} having sum(calls) > 0 order by 1, ${dimensions}`)
    const days = await read(DAY_TABLES[table], 'day')
    assert.deepEqual([...days], [...(await read(table, 'usage_day_of(hour)'))], table)
    rows += days.length
  }
  return rows
}

const span = fc
  .tuple(fc.integer({ min: 0, max: DAYS * 96 }), fc.integer({ min: 0, max: DAYS * 96 }))
  .map(([one, other]) => ({
    from: new Date(FIRST_MS + Math.min(one, other) * QUARTER_MS),
    to: new Date(FIRST_MS + Math.max(one, other) * QUARTER_MS),
  }))
const query = fc.record(
  {
    span,
    time_zone: fc.constantFrom(...ZONES),
    by: fc.constantFrom('model' as const, 'key' as const, 'tag' as const),
    model: fc.constantFrom('m1', 'm2'),
    key: fc.constantFrom('k1', 'none'),
    endpoint: fc.constantFrom('chat', 'speech'),
  },
  { requiredKeys: ['span', 'time_zone', 'by'] },
)

/** Figures of a period are those of its calls. */
async function compareSums(asked: typeof query extends fc.Arbitrary<infer T> ? T : never) {
  const { span: period, ...chosen } = asked
  const [account = ''] = ACCOUNTS
  const shown = await summariseUsage(sql, account, { ...period, step: 'day', ...chosen })
  const within = sql`
    created_at >= ${period.from} and created_at < ${period.to}`
  const { model, key, endpoint } = chosen
  const ofAccount = sql`account_id = ${account} and ${within}
    ${model ? sql`and model = ${model}` : sql``} ${key ? sql`and key_id = ${key}` : sql``}
    ${endpoint ? sql`and endpoint = ${endpoint}` : sql``}`
  const truth = async (group: ReturnType<typeof sql>, where = ofAccount) =>
    (
      await sql`
        select ${group} as name, sum(charged)::text as charged, count(*)::text as calls
        from call where ${where} group by 1 order by 1`
    ).map(({ name, charged, calls }) => `${name} ${calls} ${charged}`)
  const read = (
    rows: readonly { name?: string; calls: bigint; charged: bigint }[],
    name = 'name',
  ) =>
    rows
      .filter(({ calls }) => calls > 0n)
      .map((row) => `${row[name as 'name']} ${row.calls} ${row.charged}`)
      .sort()
  assert.deepEqual(read(shown.models), await truth(sql`model`))
  assert.deepEqual(read(shown.keys, 'key_id'), await truth(sql`key_id`))
  assert.deepEqual(read(shown.endpoints), await truth(sql`endpoint`))
  if (chosen.by === 'tag') {
    const tags = sql`${ofAccount} and labels ? 'tags'`
    const groups = shown.groups.map(({ name, series }) => {
      const sum = (of: 'calls' | 'charged') => series.reduce((all, one) => all + one[of], 0n)
      return { name, calls: sum('calls'), charged: sum('charged') }
    })
    assert.deepEqual(
      read(groups.filter(({ name }) => name !== '')),
      await truth(sql`tag_set(labels)`, tags),
    )
    const withA = (await truth(sql`'a'`, tags))[0]
    assert.equal(read(shown.labels.filter(({ name }) => name === 'a'))[0], withA)
  }
  const isEmpty = Number(period.to) === Number(period.from)
  const tops = isEmpty ? [] : await readTopModels(sql, period)
  const rename = (rows: readonly { calls: bigint; revenue: bigint; name: string }[]) =>
    read(rows.map(({ name, calls, revenue: charged }) => ({ name, calls, charged })))
  assert.deepEqual(
    rename(tops.map((row) => ({ ...row, name: row.model }))),
    await truth(sql`model`, within),
  )
  assert.deepEqual(
    rename((await readTopAccounts(sql, period)).map((row) => ({ ...row, name: row.account_id }))),
    await truth(sql`account_id`, within),
  )
  assert.deepEqual(
    rename((await readTopChannels(sql, period)).map((row) => ({ ...row, name: row.channel }))),
    await truth(sql`attempts -> -1 ->> 'channel'`, within),
  )
}

test('a count that began before days were added to is waited for', async () => {
  await addCalls(fc.sample(call, { numRuns: 150, seed: 49 }), false)
  await until('a first count', async () => {
    await countEndedCalls(sql, DAYS * 24 * 3600)
    const [row] = await sql`
      select from usage_watermark where counted_until > ${new Date(FIRST_MS + 2 * DAY_MS)}`
    return row
  })
  const began = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const older = sql.begin(async (transaction) => {
    await transaction`select pg_current_xact_id()`
    began.resolve()
    await held.promise
  })
  await began.promise
  for (let turn = 0; turn < 3; turn += 1) assert.equal(await addUpDay(sql), false)
  const [row] = await sql`select days_until, days_since from usage_watermark`
  assert.ok(row?.days_since)
  assert.equal(row.days_until, null)
  held.resolve()
  await older
  await until('the first day', () => addUpDay(sql))
  assert.ok((await compareTables()) > 0)
})

/** Quarters of many calls, and no day yet. */
async function startAnew(): Promise<void> {
  number = 0
  await sql`
    truncate call, usage_hour, usage_part, usage_tags, latency_hour, latency_all, channel_hour,
      key_use, usage_day, latency_day, tags_day, channel_day`
  await sql`
    update usage_watermark set counted_until = null, tags_until = null, final_until = now(),
      days_until = null, days_account = '', days_since = now() - interval '1 hour'`
  await addCalls(fc.sample(call, { numRuns: 40, seed: 49 }), false)
  while (await countEndedCalls(sql, DAYS * 24 * 3600));
}

test('days have the sums of their quarters, and periods those of their calls', async () => {
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 6, maxLength: 16 }),
    fc.array(query, { minLength: 1, maxLength: 2 }),
    async (todo, queries) => {
      await startAnew()
      for (const one of todo) await run(one)
      await compareTables()
      for (const one of queries) await compareSums(one)
    },
  )
  await fc.assert(property, { numRuns: 60, seed: 49, endOnFailure: true })
  while (await countEndedCalls(sql, 3600 * 24));
  while (await addUpDay(sql));
  const [row] = await sql`select days_until > ${new Date(FIRST_MS + (DAYS - 1) * DAY_MS)} as last
    from usage_watermark`
  assert.equal(row?.last, true)
  assert.ok((await compareTables()) > 50)
})
