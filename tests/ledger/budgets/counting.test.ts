/** Budgets move with holds: decided with them, given back and charged by whatever closes them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId, newRequestId } from '../../../server/base/lib/ids.ts'
import { changeBudget, removeBudget } from '../../../server/money/ledger/budgets/budgets.ts'
import { holdForTask, settleTask } from '../../../server/money/ledger/holds/task-holds.ts'
import { renewLease, sweepHolds } from '../../../server/money/ledger/leases/owner-store.ts'
import {
  closeHolds,
  correctLost,
  move,
  takeHolds,
} from '../../../server/money/ledger/posting/move-store.ts'
import { type HoldRow, readBalance, writeCheckpoints } from '../../../server/money/ledger/store.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'
import {
  brokenInvariants,
  createCaller,
  holdRow,
  settleRow,
  storedCheckpoint,
  type TestCaller,
} from '../support.ts'
import { giveBudget, readUse, setBudgetClock } from './support.ts'

let database: TestDatabase
let beside: TestCaller
before(async () => {
  database = await createTestDatabase()
  // No window ends while its calls are made.
  await setBudgetClock(database.sql, new Date().toISOString())
  beside = await createCaller(database.sql, 1_000_000n)
})
after(() => database.drop())

const WAYS = [
  'alone',
  'with its account',
  'with another account',
  'with an Idempotency-Key',
] as const
type Way = (typeof WAYS)[number]

const named = () => ({ idempotency_key: newRequestId(), route: 'r', fingerprint: '00' })
const shape = (way: Way, row: HoldRow) =>
  way === 'with an Idempotency-Key' ? { ...row, ...named() } : row
/** A hold of nothing beside `row`. */
const companionsOf = (way: Way, row: HoldRow) => {
  if (way === 'with its account') return [{ ...holdRow(beside, { amount: '0' }), ...ownerOf(row) }]
  return way === 'with another account' ? [holdRow(beside, { amount: '0' })] : []
}
const ownerOf = ({ account_id, key_id }: HoldRow) => ({ account_id, key_id })

async function take(way: Way, row: HoldRow) {
  const rows = [shape(way, row), ...companionsOf(way, row)]
  return (await takeHolds(database.sql, rows)).get(row.id)
}

async function close(way: Way, row: HoldRow, charge: bigint | null) {
  const others = companionsOf(way, row)
  await takeHolds(database.sql, others)
  const closing = [row, ...others].map((hold) => {
    const amount = hold.id === row.id ? charge : 0n
    return { ...settleRow(hold, amount), held: hold.amount }
  })
  return (await closeHolds(database.sql, closing)).get(row.id)
}

/** A hold of 400 of a budget of 1,000: charged 300, then released, then overrun, then refused. */
async function live(way: Way) {
  const { sql } = database
  const caller = await createCaller(sql, 1_000_000n)
  const budget = await giveBudget(sql, caller.accountId, 1_000n)
  const told: unknown[] = []
  const hold = () => holdRow(caller, { amount: '400' })
  const note = async (verdict: unknown) => told.push(verdict, await readUse(sql, budget.id))
  const [first, second, third, fourth] = [hold(), hold(), hold(), hold()]
  await note(await take(way, first))
  await note(await take(way, first))
  await note(await close(way, first, 300n))
  await note(await close(way, first, 300n))
  await note(await take(way, second))
  await note(await close(way, second, null))
  await note(await take(way, third))
  await note(await close(way, third, 900n))
  const refused = await take(way, fourth)
  const resets = budget.resets_at?.toISOString().replace('.000', '')
  assert.equal(refused, `budget:${budget.id} ${resets}`)
  await note('refused')
  const { available, held } = (await readBalance(sql, caller.accountId)) ?? {}
  return { told, available, held }
}

test('a budget counts the same however holds and settlements travel', async () => {
  const expected = {
    told: (
      'held 0+400 already 0+400 closed 300+0 already 300+0 held 300+400 closed 300+0 ' +
      'held 300+400 closed 1200+0 refused 1200+0'
    ).split(' '),
    available: 998_800n,
    held: 0n,
  }
  for (const way of WAYS) assert.deepEqual(await live(way), expected, way)
  assert.deepEqual(await brokenInvariants(database.sql), [])
})

test('a hold that is taken again has its part of a budget that it used up', async () => {
  const { sql } = database
  for (const way of WAYS) {
    const caller = await createCaller(sql, 1_000_000n)
    const budget = await giveBudget(sql, caller.accountId, 400n, { thresholds: [100] })
    const row = holdRow(caller, { amount: '400' })
    const verdicts = [await take(way, row), await take(way, row)]
    assert.deepEqual(verdicts, ['held', 'already'], way)
    assert.equal(await readUse(sql, budget.id), '0+400', way)
    const alerts = await sql`select from alert_event where account_id = ${caller.accountId}`
    assert.equal(alerts.length, 0, way)
  }
  assert.deepEqual(await brokenInvariants(sql), [])
})

test('of one batch as many pass as fit, and each gateway decides the same', async () => {
  const { sql } = database
  const caller = await createCaller(sql, 1_000_000n)
  const budget = await giveBudget(sql, caller.accountId, 1_000n)
  const batches = Array.from({ length: 6 }, () =>
    Array.from({ length: 4 }, () => holdRow(caller, { amount: '100' })),
  )
  const taken = await Promise.all(
    batches.map(async (rows) => {
      const verdicts = await takeHolds(sql, rows)
      return rows.filter(({ id }) => verdicts.get(id) === 'held')
    }),
  )
  const held = taken.flat()
  assert.equal(held.length, 10)
  assert.equal(await readUse(sql, budget.id), '0+1000')
  const next = holdRow(caller, { amount: '100' })
  const exchanged = await move(
    sql,
    held.map((row) => ({ ...settleRow(row, 40n), held: row.amount })),
    [next],
  )
  assert.equal(exchanged.taken.get(next.id), 'held')
  assert.equal(await readUse(sql, budget.id), '400+100')
  assert.deepEqual(await brokenInvariants(sql), [])
})

test('a batch closes holds of before a budget, and of two of its windows, each for itself', async () => {
  const { sql } = database
  for (const unit of ['money', 'call'] as const) {
    const caller = await createCaller(sql, 1_000_000n)
    const hold = () => holdRow(caller, { amount: '100' })
    const [before, first, second, released] = [hold(), hold(), hold(), hold()]
    await takeHolds(sql, [before])
    const { id } = await giveBudget(sql, caller.accountId, 100_000n, { unit, period: 'day' })
    const now = new Date()
    await takeHolds(sql, [first, released])
    await setBudgetClock(sql, new Date(now.getTime() + 86_400_000).toISOString())
    await takeHolds(sql, [second])
    const close = (...charges: (readonly [HoldRow, bigint | null])[]) =>
      closeHolds(
        sql,
        charges.map(([row, charge]) => ({ ...settleRow(row, charge), held: row.amount })),
      )
    await close([before, 1n], [first, 10n])
    await close([second, 100n], [released, null])
    const windows = await sql<{ held: bigint; spent: string }[]>`
      select held, spent from budget_use where budget_id = ${id} order by window_start`
    const told = windows.map(({ held, spent }) => `${spent}+${held}`)
    assert.deepEqual(told, unit === 'money' ? ['10+0', '100+0'] : ['1+0', '1+0'], unit)
    await setBudgetClock(sql, now.toISOString())
  }
  assert.deepEqual(await brokenInvariants(sql), [])
})

test('a change binds the next hold', async () => {
  const { sql } = database
  const caller = await createCaller(sql, 1_000_000n)
  const attempt = async () => (await take('alone', holdRow(caller)))?.split(':')[0]
  assert.equal(await attempt(), 'held')
  const budget = await giveBudget(sql, caller.accountId, 150n)
  assert.deepEqual([await attempt(), await attempt()], ['held', 'budget'])
  const set = (amount: bigint) =>
    changeBudget(sql, budget.id, { change: { amount }, setBy: 'operator' })
  await set(200n)
  assert.deepEqual([await attempt(), await attempt()], ['held', 'budget'])
  await set(50n)
  assert.equal(await attempt(), 'budget')
  await changeBudget(sql, budget.id, { change: { action: 'warn' }, setBy: 'operator' })
  assert.equal(await attempt(), 'held')
  await removeBudget(sql, budget.id, 'operator')
  assert.equal(await attempt(), 'held')
  assert.deepEqual(await brokenInvariants(sql), [])
})

test('a hold that one of several budgets refuses counts towards none', async () => {
  const { sql } = database
  const caller = await createCaller(sql, 1_000_000n)
  const { accountId } = caller
  const wide = await giveBudget(sql, accountId, 1_000n, { period: 'day' })
  const key = { scope: 'key', subject: caller.keyId } as const
  const narrow = await giveBudget(sql, accountId, 1n, { ...key, unit: 'call', models: ['m'] })
  const rows = [holdRow(caller), holdRow(caller), holdRow(caller, { model: 'other' })]
  const verdicts = await takeHolds(sql, rows)
  assert.deepEqual(
    rows.map(({ id }) => verdicts.get(id)?.slice(0, 7 + narrow.id.length)),
    ['held', `budget:${narrow.id}`, 'held'],
  )
  assert.equal(await readUse(sql, wide.id), '0+200')
  assert.equal(await readUse(sql, narrow.id), '0+1')
  const duplicate = { ...holdRow(caller, { model: 'other' }), ...named() }
  await takeHolds(sql, [duplicate])
  const again = { ...duplicate, id: newId('hold'), request_id: newRequestId() }
  assert.equal((await takeHolds(sql, [again])).get(again.id), 'duplicate')
  assert.equal(await readUse(sql, wide.id), '0+300')
  assert.deepEqual(await brokenInvariants(sql), [])
})

test('calls and tokens are counted from the estimate, then from the record', async () => {
  const { sql } = database
  const caller = await createCaller(sql, 1_000_000n)
  const { accountId } = caller
  const units = ['call', 'input_token', 'output_token'] as const
  const budgets = await Promise.all(units.map((unit) => giveBudget(sql, accountId, 500n, { unit })))
  const uses = () => Promise.all(budgets.map(({ id }) => readUse(sql, id)))
  const estimate = { input_token: 40, cached_input_token: 2, output_token: 100, call: 3 }
  const lines = [
    { unit: 'cache_write_5m_token', quantity: 7 },
    { unit: 'audio_input_token', quantity: 2 },
    { unit: 'image', quantity: 5 },
  ]
  const finish = async (charge: bigint | null, of: readonly object[]) => {
    const row = holdRow(caller, { estimate })
    await takeHolds(sql, [row])
    assert.deepEqual(
      (await uses()).map((use) => use.split('+')[1]),
      ['1', '42', '100'],
    )
    await closeHolds(sql, [{ ...settleRow(row, charge, { lines: of }), held: row.amount }])
    return await uses()
  }
  assert.deepEqual(await finish(60n, lines), ['1+0', '9+0', '0+0'])
  assert.deepEqual(await finish(null, []), ['1+0', '9+0', '0+0'])
  // A record without tokens says nothing about them.
  assert.deepEqual(await finish(60n, []), ['2+0', '51+0', '100+0'])
  assert.deepEqual(await brokenInvariants(sql), [])
})

for (const way of WAYS) {
  test(`a call without tokens asks a budget of tokens for none: ${way}`, async () => {
    const { sql } = database
    const caller = await createCaller(sql, 1_000_000n)
    const budget = await giveBudget(sql, caller.accountId, 1n, { unit: 'output_token' })
    for (const estimate of [{ call: 1 }, { second: 5, input_token: 7 }, {}]) {
      const row = holdRow(caller, { estimate })
      assert.equal(await take(way, row), 'held')
      await close(way, row, 60n)
    }
    assert.equal(await readUse(sql, budget.id), '0+0')
    assert.deepEqual(await brokenInvariants(sql), [])
  })
}

test('the sweeper gives back and charges, and a correction counts the difference', async () => {
  const { sql } = database
  const caller = await createCaller(sql, 1_000_000n)
  const budget = await giveBudget(sql, caller.accountId, 1_000n)
  const [silent, noted] = [1, 2].map(() => holdRow(caller, { owner_id: newId('own') }))
  assert.ok(silent && noted)
  await takeHolds(sql, [silent, noted])
  await writeCheckpoints(sql, [
    { hold_id: noted.id, account_id: noted.account_id, checkpoint: storedCheckpoint(40n) },
  ])
  await sql`update hold set created_at = created_at - interval '60 s'
    where account_id = ${caller.accountId}`
  const times = { leaseSeconds: 20, patienceSeconds: 10, quietSeconds: 600 }
  const sweeper = newId('own')
  await renewLease(sql, { id: sweeper, address: '' }, times)
  await sql`update owner set steady_since = now() - interval '1 minute' where id = ${sweeper}`
  assert.equal((await sweepHolds(sql, sweeper, times, 500)).closed, 2)
  assert.equal(await readUse(sql, budget.id), '40+0')
  await correctLost(sql, settleRow(silent, 70n))
  assert.equal(await readUse(sql, budget.id), '110+0')
  await correctLost(sql, settleRow(noted, null))
  assert.equal(await readUse(sql, budget.id), '70+0')
  assert.deepEqual(await brokenInvariants(sql), [])
})

test('a task holds and settles under its budget', async () => {
  const { sql } = database
  const caller = await createCaller(sql, 1_000_000n)
  const budget = await giveBudget(sql, caller.accountId, 150n)
  const request = () => ({
    requestId: newRequestId(),
    accountId: caller.accountId,
    keyId: caller.keyId,
    endpoint: 'videos',
    model: 'm',
    priceVersion: null,
    amountNanos: 100n,
    estimate: {},
    spendLimitNanos: null,
    idempotency: null,
  })
  const hold = () => sql.begin((transaction) => holdForTask(transaction, newId('task'), request()))
  const first = await hold()
  const second = await hold()
  assert.ok('holdId' in first && 'refused' in second)
  assert.match(second.refused, /^budget:bud_/)
  const settlement = { chargeNanos: 30n, basis: 'params', lines: [], attempts: [] }
  await sql.begin((transaction) =>
    settleTask(
      transaction,
      { hold_id: first.holdId, account_id: caller.accountId },
      { ...settlement, status: 'succeeded' },
    ),
  )
  assert.equal(await readUse(sql, budget.id), '30+0')
})
