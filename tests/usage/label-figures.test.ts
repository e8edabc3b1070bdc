/** Figures by tag and end user are those of the list, whatever of it has been counted. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from 'postgres'
import { summariseUsage } from '../../server/api/admin/account/usage/usage-summary.ts'
import { countEndedCalls } from '../../server/money/usage/rollup-store.ts'
import { selectUsage, type UsageSummary } from '../../server/money/usage/store.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

const ACCOUNT = 'acct_labels'
const CALLS = 400
const DAY_MS = 86_400_000
const STEP_SECONDS = 40 * 86_400
const FIRST_MS = Date.parse('2026-03-28T00:00:00Z')
/** One is part of another; one has a character of a pattern, one needs two bytes. */
const TAGS = ['a', 'ab', 'b', 'a%', '团队 1']

let database: TestDatabase
let sql: Sql
before(async () => {
  database = await createTestDatabase()
  sql = database.sql
  await sql`insert into account (id, name) values (${ACCOUNT}, 'labels')`
  await sql`insert into balance (account_id, currency) values (${ACCOUNT}, 'CNY')`
  const rows = fc.sample(call, { numRuns: CALLS, seed: 32 }).map(toRow)
  await sql`insert into call ${sql(rows)}`
})
after(() => database.drop())

const tags = fc.uniqueArray(fc.constantFrom(...TAGS), { maxLength: 3 })
const endUser = fc.constantFrom('u1', 'u2', 'u%')
const call = fc.record({
  account_id: fc.constantFrom(ACCOUNT, ACCOUNT, ACCOUNT, 'acct_other'),
  model: fc.constantFrom('m1', 'm2'),
  key_id: fc.constantFrom('k1', 'k2', 'k3'),
  endpoint: fc.constantFrom('chat', 'speech'),
  status: fc.constantFrom('succeeded', 'succeeded', 'failed', 'cancelled'),
  charged: fc.integer({ min: 0, max: 1000 }),
  labels: fc.oneof(
    fc.constant(null),
    fc.constant({ base_version: 1 }),
    fc.record({ tags }),
    fc.record({ end_user: endUser }),
    fc.record({ tags, end_user: endUser }),
  ),
  minutes: fc.integer({ min: 0, max: 3 * 24 * 60 - 1 }),
})

function toRow(
  { minutes, labels, ...row }: typeof call extends fc.Arbitrary<infer T> ? T : never,
  n: number,
) {
  const at = new Date(FIRST_MS + minutes * 60_000)
  return {
    ...row,
    request_id: `req_${n}`,
    hold_id: `hold_${n}`,
    basis: 'usage',
    currency: 'CNY',
    held: 1000,
    returned: 1000 - row.charged,
    labels: labels === null ? null : sql.json(labels),
    created_at: at,
    finished_at: new Date(at.getTime() + 1000),
  }
}

const query = fc.record(
  {
    tag: fc.constantFrom(...TAGS, 'none'),
    end_user: fc.oneof(endUser, fc.constant('nobody')),
    model: fc.constantFrom('m1', 'm2'),
    key: fc.constantFrom('k1', 'k2'),
    endpoint: fc.constantFrom('chat', 'speech'),
    by: fc.constantFrom('tag' as const, 'end_user' as const, 'model' as const, 'key' as const),
    quarters: fc.integer({ min: 0, max: 3 * 96 - 1 }),
  },
  { requiredKeys: ['quarters', 'by'] },
)

interface Figures {
  readonly calls: bigint
  readonly errors: bigint
  readonly cancelled: bigint
  readonly charged: bigint
}

const figuresOf = (rows: readonly UsageSummary[]): Figures => ({
  calls: BigInt(rows.length),
  errors: BigInt(rows.filter(({ status }) => status === 'failed').length),
  cancelled: BigInt(rows.filter(({ status }) => status === 'cancelled').length),
  charged: rows.reduce((sum, { charged }) => sum + charged, 0n),
})

const only = ({ calls, errors, cancelled, charged }: Figures): Figures => ({
  calls,
  errors,
  cancelled,
  charged,
})

/** Which group of a chart a call is in. */
const groupOf = {
  tag: (row: UsageSummary) => [...new Set(row.tags)].sort().join(', '),
  end_user: (row: UsageSummary) => row.end_user ?? '',
  model: (row: UsageSummary) => row.model,
  key: (row: UsageSummary) => row.key_id,
}

async function compare({
  quarters,
  ...chosen
}: typeof query extends fc.Arbitrary<infer T> ? T : never) {
  const { tag, end_user: endUser, model, key, endpoint, by } = chosen
  const from = new Date(FIRST_MS + quarters * 15 * 60_000)
  const to = new Date(FIRST_MS + 3 * DAY_MS)
  const shown = await summariseUsage(sql, ACCOUNT, {
    ...chosen,
    from,
    to,
    step: 'day',
    time_zone: 'Asia/Kathmandu',
  })
  const filter = { accountId: ACCOUNT, limit: CALLS, from, to, model, endpoint, tag, endUser }
  const rows = await selectUsage(sql, { ...filter, keyIds: key ? [key] : undefined })
  assert.deepEqual(only(shown.totals), figuresOf(rows))
  const largest = new Set(shown.groups.map(({ name }) => name))
  const groups = Map.groupBy(rows, (row) => {
    const name = groupOf[by](row)
    return largest.has(name) ? name : ''
  })
  for (const { name, series } of shown.groups) {
    const sum = series.reduce(
      (all, one) => ({
        calls: all.calls + one.calls,
        errors: all.errors + one.errors,
        cancelled: all.cancelled + one.cancelled,
        charged: all.charged + one.charged,
      }),
      figuresOf([]),
    )
    assert.deepEqual(sum, figuresOf(groups.get(name) ?? []), `the group "${name}"`)
    for (const { at } of series) assert.ok(shown.series.some((one) => +one.at === +at))
  }
  assert.deepEqual(new Set(groups.keys()), largest)
  for (const label of shown.labels) {
    const its = rows.filter((row) =>
      by === 'tag' ? row.tags.includes(label.name) : row.end_user === label.name,
    )
    assert.deepEqual(only(label), figuresOf(its), `the ${by} "${label.name}"`)
  }
}

const states: Readonly<Record<string, () => Promise<unknown>>> = {
  'before a count': async () => undefined,
  'while the first half is counted': async () => {
    await sql`update call set finished_at = now() where substr(request_id, 5)::int % 2 = 0`
    while (await countEndedCalls(sql, STEP_SECONDS));
  },
  'counted by the version before, which had no tags': async () => {
    await sql`truncate usage_tags`
    await sql`update usage_watermark set tags_until = null`
  },
  'when that is made up for': async () => {
    while (await countEndedCalls(sql, STEP_SECONDS));
    const [row] = await sql`select counted_until = tags_until as same from usage_watermark`
    assert.equal(row?.same, true)
  },
}

for (const [name, enter] of Object.entries(states)) {
  test(`charts equal the list ${name}`, async () => {
    await enter()
    await fc.assert(fc.asyncProperty(query, compare), { numRuns: 60 })
  })
}
