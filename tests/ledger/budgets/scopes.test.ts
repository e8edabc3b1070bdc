/** Whose calls a budget counts, what it refuses to be, and the events that it records. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import { createKey, rotateKey } from '../../../server/money/accounts/manage-keys.ts'
import { deleteOldUses } from '../../../server/money/ledger/budgets/budget-store.ts'
import {
  addBudget,
  changeBudget,
  removeBudget,
} from '../../../server/money/ledger/budgets/budgets.ts'
import { closeHolds, takeHolds } from '../../../server/money/ledger/posting/move-store.ts'
import type { HoldRow } from '../../../server/money/ledger/store.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'
import { brokenInvariants, createCaller, holdRow, settleRow } from '../support.ts'
import { giveBudget, readUse, setBudgetClock } from './support.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
  // No window ends while its calls are made.
  await setBudgetClock(database.sql, new Date().toISOString())
})
after(() => database.drop())

const isRefusal = (words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof OperatorError)
  assert.match(error.message, words)
  return true
}

async function usersOf(id: string) {
  const rows = await database.sql<{ subject: string; held: bigint; subjects: number }[]>`
    select subject, held, subjects from budget_use where budget_id = ${id} order by subject`
  return rows.map(({ subject, held, subjects }) => `${subject || '-'} ${held} ${subjects}`)
}

test('beyond the most end users all others share one counter, and no row is added', async () => {
  const { sql } = database
  const caller = await createCaller(sql, 1_000_000n)
  const { accountId } = caller
  const budget = await giveBudget(sql, accountId, 250n, { scope: 'end_user', end_users_max: 2 })
  const take = async (user?: string) => {
    const row = holdRow(caller, user === undefined ? {} : { labels: { end_user: user } })
    return (await takeHolds(sql, [row])).get(row.id)?.slice(0, 6)
  }
  for (const user of ['a', 'b', 'c', 'd', undefined, 'a', undefined]) {
    assert.equal(await take(user), 'held', String(user))
  }
  // The third and the fourth share one; each of the others has its own.
  for (const user of ['c', 'e', 'a', undefined])
    assert.equal(await take(user), 'budget', String(user))
  assert.equal(await take('b'), 'held')
  const names = Array.from({ length: 30 }, (_, index) => `mallory-${index}`)
  const rows = names.map((name) => holdRow(caller, { labels: { end_user: name } }))
  const verdicts = await takeHolds(sql, rows)
  assert.ok(rows.every(({ id }) => verdicts.get(id)?.startsWith('budget:')))
  assert.deepEqual(await usersOf(budget.id), ['- 200 0', '* 200 2', 'u:a 200 0', 'u:b 200 0'])
  assert.deepEqual(await brokenInvariants(sql), [])
})

test('a call that any budget refuses uses up no name of an end user', async () => {
  const { sql } = database
  const caller = await createCaller(sql, 1_000_000n)
  const { accountId } = caller
  const users = await giveBudget(sql, accountId, 250n, {
    scope: 'end_user',
    end_users_max: 2,
    thresholds: [100],
  })
  const daily = await giveBudget(sql, accountId, 250n, { scope: 'end_user', period: 'day' })
  const small = await giveBudget(sql, accountId, 150n)
  const take = async (user: string, amount = '100') => {
    const row = holdRow(caller, { labels: { end_user: user }, amount })
    return (await takeHolds(sql, [row])).get(row.id)?.slice(0, 6)
  }
  assert.equal(await take('a'), 'held')
  for (const user of ['x', 'y', 'z']) assert.equal(await take(user), 'budget', user)
  // One that the budget of the user itself refuses uses up none either, and alerts nobody.
  await removeBudget(sql, small.id, 'operator')
  for (const user of ['x', 'y', 'z']) assert.equal(await take(user, '900'), 'budget', user)
  for (const id of [users.id, daily.id]) assert.deepEqual(await usersOf(id), ['* 0 1', 'u:a 100 0'])
  assert.equal(await take('b'), 'held')
  assert.equal(await take('c'), 'held')
  assert.deepEqual(await usersOf(users.id), ['* 100 2', 'u:a 100 0', 'u:b 100 0'])
  const [alerts] = await sql`select count(*)::int as count from alert_event
    where account_id = ${accountId} and subject ->> 'budget_id' = ${users.id}`
  assert.equal(alerts?.count, 0)
  assert.deepEqual(await brokenInvariants(sql), [])
})

test('counters of a deleted budget go in pieces, and open holds end without them', async () => {
  const { sql } = database
  const caller = await createCaller(sql, 1_000_000n)
  const { id } = await giveBudget(sql, caller.accountId, 250n, { scope: 'end_user' })
  const rows = ['a', 'b', 'c'].map((user) => holdRow(caller, { labels: { end_user: user } }))
  await takeHolds(sql, rows)
  await removeBudget(sql, id, 'operator')
  assert.deepEqual(await brokenInvariants(sql), [])
  const [first, ...rest] = rows
  const settled = (some: typeof rows) =>
    closeHolds(
      sql,
      some.map((row) => settleRow(row, 10n)),
    )
  await settled(first ? [first] : [])
  assert.equal(await deleteOldUses(sql, 3), 3)
  await settled(rest)
  while ((await deleteOldUses(sql, 3)) > 0);
  assert.deepEqual(await usersOf(id), [])
  assert.deepEqual(await brokenInvariants(sql), [])
})

test('names of end users that an index cannot hold are counted, and old windows go', async () => {
  const { sql } = database
  const caller = await createCaller(sql, 1_000_000n)
  await setBudgetClock(sql, '2026-11-01T12:00:00Z')
  const budget = await giveBudget(sql, caller.accountId, 250n, { scope: 'end_user', period: 'day' })
  const name = '名'.repeat(9_000)
  const rows = ['*', '', name, name].map((user) => holdRow(caller, { labels: { end_user: user } }))
  await takeHolds(sql, rows)
  const users = await usersOf(budget.id)
  assert.deepEqual(
    users.map((user) => user.slice(0, 2)),
    ['* ', 'h:', 'u:', 'u:'],
  )
  await closeHolds(
    sql,
    rows.slice(1).map((row) => settleRow(row, 10n)),
  )
  await sql`update budget_use set window_start = now() - interval '4 days'
    where budget_id = ${budget.id}`
  assert.equal(await deleteOldUses(sql, 2), 2)
  assert.equal(await deleteOldUses(sql, 9), 1)
  await closeHolds(
    sql,
    rows.slice(0, 1).map((row) => settleRow(row, 10n)),
  )
  await setBudgetClock(sql, new Date().toISOString())
  assert.deepEqual(await brokenInvariants(sql), [])
})

test('keys, members and tags are counted apart, and rotated keys together', async () => {
  const { sql } = database
  const caller = await createCaller(sql, 1_000_000n)
  const { accountId } = caller
  await sql`insert into person (id, email, name) values ('user_1', 'Ann@example.com', 'Ann')`
  await sql`insert into membership (person_id, account_id, role)
    values ('user_1', ${accountId}, 'member')`
  const own = await createKey(sql, { accountId, createdBy: 'user_1' })
  const tagged = await createKey(sql, { accountId })
  await sql`update api_key set tags = '{web}', required_tags = '{blue,red}'
    where id = ${tagged.id}`
  const of = (scope: 'key' | 'member' | 'tag', subject: string) => ({ scope, subject })
  const budgets = {
    key: await giveBudget(sql, accountId, 1_000n, of('key', own.id)),
    member: await giveBudget(sql, accountId, 1_000n, of('member', 'ann@EXAMPLE.com')),
    web: await giveBudget(sql, accountId, 1_000n, of('tag', 'web')),
    blue: await giveBudget(sql, accountId, 1_000n, of('tag', 'blue')),
  }
  await assert.rejects(
    giveBudget(sql, accountId, 1n, of('tag', 'green')),
    isRefusal(/no key .*tag/),
  )
  await assert.rejects(
    giveBudget(sql, accountId, 1n, of('key', 'key_x')),
    isRefusal(/no key key_x/),
  )
  await assert.rejects(
    giveBudget(sql, accountId, 1n, of('member', 'x@y.z')),
    isRefusal(/no member/),
  )
  const rotated = await rotateKey(sql, own.id, 3_600)
  const calls: Partial<HoldRow>[] = [
    { key_id: own.id },
    { key_id: rotated.created.id, labels: { tags: ['web', 'blue'] } },
    { key_id: tagged.id, labels: { tags: ['web', 'blue'] } },
    { key_id: tagged.id, labels: { tags: ['red'] } },
    {},
  ]
  await takeHolds(
    sql,
    calls.map((call) => holdRow(caller, call)),
  )
  const uses = Object.values(budgets).map(({ id }) => readUse(sql, id))
  // Tags count where a caller cannot leave them away.
  assert.deepEqual(await Promise.all(uses), ['0+200', '0+200', '0+200', '0+100'])
})

test('a ninth budget of one call is refused, other models and keys have room', async () => {
  const { sql } = database
  const { accountId, keyId } = await createCaller(sql)
  const key = { scope: 'key', subject: keyId } as const
  for (let count = 0; count < 4; count += 1) await giveBudget(sql, accountId, 1n)
  for (let count = 0; count < 3; count += 1) await giveBudget(sql, accountId, 1n, key)
  const last = await giveBudget(sql, accountId, 1n, { models: ['a'] })
  const ninth = isRefusal(/at most 8 budgets apply to one call: delete one of bud_/)
  await assert.rejects(giveBudget(sql, accountId, 1n), ninth)
  await assert.rejects(giveBudget(sql, accountId, 1n, { ...key, models: ['b', 'a'] }), ninth)
  await giveBudget(sql, accountId, 1n, { ...key, models: ['b'] })
  await removeBudget(sql, last.id, 'operator')
  await giveBudget(sql, accountId, 1n, { models: ['a'] })
})

test('terms that cannot be are refused with what is wrong', async () => {
  const { sql } = database
  const { accountId } = await createCaller(sql)
  const refused = (terms: Parameters<typeof giveBudget>[3], words: RegExp) =>
    assert.rejects(giveBudget(sql, accountId, 1n, terms), isRefusal(words))
  for (const zone of ['Mars/Base', '+08:00', 'UTC-8', '', "x' or 1"]) {
    await refused({ time_zone: zone }, /^time_zone: .* is not a time zone/)
  }
  await refused({ thresholds: [0] }, /^thresholds/)
  await refused({ thresholds: [50.5] }, /^thresholds/)
  await refused({ week_start: 8 }, /^week_start/)
  await refused({ models: [] }, /^models/)
  await refused({ end_users_max: 0 }, /^max_end_users/)
  await assert.rejects(giveBudget(sql, 'acct_x', 1n), isRefusal(/no account acct_x/))
  await assert.rejects(giveBudget(sql, accountId, -1n), isRefusal(/^amount/))
})

test('owners change what owners have set', async () => {
  const { sql } = database
  const { accountId } = await createCaller(sql)
  const terms = { unit: 'money', period: 'day', scope: 'account', subject: '' } as const
  const own = await addBudget(sql, { ...terms, accountId, amount: 5n, setBy: 'owner' })
  const given = await giveBudget(sql, accountId, 5n)
  const change = { amount: 7n }
  assert.equal((await changeBudget(sql, own.id, { change, setBy: 'owner' })).amount, 7n)
  const refused = isRefusal(/an operator set this budget/)
  await assert.rejects(changeBudget(sql, given.id, { change, setBy: 'owner' }), refused)
  await assert.rejects(removeBudget(sql, given.id, 'owner'), refused)
})

test('each threshold is told once in a window, the highest of those passed at once', async () => {
  const { sql } = database
  const caller = await createCaller(sql, 1_000_000n)
  const budget = await giveBudget(sql, caller.accountId, 1_000n)
  const told = async () => {
    const rows = await sql<{ subject: { threshold: number; spent: string } }[]>`
      select subject from alert_event where account_id = ${caller.accountId} order by id`
    return rows.map(({ subject }) => `${subject.threshold}% ${subject.spent}`)
  }
  const spend = async (...charges: readonly bigint[]) => {
    const rows = charges.map(() => holdRow(caller))
    await takeHolds(sql, rows)
    await closeHolds(
      sql,
      rows.map((row, index) => settleRow(row, charges[index] ?? 0n)),
    )
  }
  await spend(499n)
  assert.deepEqual(await told(), [])
  await spend(1n)
  assert.deepEqual(await told(), ['50% 500'])
  await spend(100n, 100n, 100n, 90n)
  assert.deepEqual(await told(), ['50% 500', '80% 890'])
  await spend(10n)
  // The first refusal is as good as the end of the budget.
  const refused = holdRow(caller, { amount: '200' })
  await takeHolds(sql, [refused])
  await takeHolds(sql, [{ ...refused, id: `${refused.id}x` }])
  assert.deepEqual(await told(), ['50% 500', '80% 890', '100% 900'])
  await changeBudget(sql, budget.id, { change: { amount: 1_700n }, setBy: 'operator' })
  await spend(100n)
  await spend(200n, 500n)
  assert.deepEqual(await told(), ['50% 500', '80% 890', '100% 900'])
  assert.deepEqual(await brokenInvariants(sql), [])
})
