/**
 * Calls whose holds do not cover what they may cost: one at a time, unless the balance covers what
 * all of them may cost together, however they are batched and whatever happens to them.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { closeHolds, takeHolds } from '../../server/money/ledger/posting/move-store.ts'
import type { HoldRow } from '../../server/money/ledger/store.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { brokenInvariants, createCaller, holdRow, settleRow, type TestCaller } from './support.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

const open = (caller: TestCaller, excess: number, more: Partial<HoldRow> = {}) =>
  holdRow(caller, { amount: '10', excess: String(excess), ...more })

async function take(...rows: HoldRow[]) {
  const verdicts = await takeHolds(database.sql, rows)
  return rows.map((row) => verdicts.get(row.id))
}

const close = (row: HoldRow, charge: bigint | null) =>
  closeHolds(database.sql, [settleRow(row, charge)])

test('one that the balance does not cover runs alone; calls that are covered run beside it', async () => {
  const caller = await createCaller(database.sql, 1_000n)
  const first = open(caller, 50_000)
  assert.deepEqual(await take(first), ['held'])
  assert.deepEqual(await take(open(caller, 1)), ['uncovered'])
  assert.deepEqual(await take(holdRow(caller, { amount: '500' })), ['held'])
  await close(first, 10n)
  assert.deepEqual(await take(open(caller, 50_000)), ['held'])
})

test('several run while the balance covers them all, in one batch as one by one', async () => {
  for (const isBatch of [true, false]) {
    const caller = await createCaller(database.sql, 1_000n)
    const rows = Array.from({ length: 12 }, () => open(caller, 100, { amount: '0' }))
    const verdicts = isBatch ? await take(...rows) : []
    for (const row of isBatch ? [] : rows) verdicts.push(...(await take(row)))
    assert.deepEqual(
      verdicts,
      rows.map((_, index) => (index < 10 ? 'held' : 'uncovered')),
    )
  }
})

test('a refusal of another kind, a release and a repetition leave nothing behind', async () => {
  const caller = await createCaller(database.sql, 100n)
  assert.deepEqual(await take(open(caller, 900, { amount: '101' })), ['insufficient'])
  const row = open(caller, 900)
  assert.deepEqual(await take(row), ['held'])
  assert.deepEqual(await take(row), ['already'])
  assert.deepEqual(await take(open(caller, 900)), ['uncovered'], 'it is still open')
  await close(row, null)
  assert.deepEqual(await take(open(caller, 900)), ['held'])
})

test('a repetition is found beside other open calls that leave nothing', async () => {
  const caller = await createCaller(database.sql, 1_000n)
  const [first, second] = [open(caller, 480), open(caller, 480)]
  assert.deepEqual(await take(first, second), ['held', 'held'])
  await take(holdRow(caller, { amount: '400' }))
  assert.deepEqual(await take(second), ['already'])
  assert.deepEqual(await take(first, second), ['already', 'already'])
})

test('what is refused counts towards no limit, and no Idempotency-Key is taken', async () => {
  const caller = await createCaller(database.sql, 100n)
  const subjects = [{ name: `account:${caller.accountId}`, requests: 2, calls: 2 }]
  const limits = { tokens: 1, subjects } as NonNullable<HoldRow['limits']>
  const key = { idempotency_key: 'k', route: 'r', fingerprint: '00' }
  const first = open(caller, 900, { limits })
  assert.deepEqual(await take(first), ['held'])
  for (let turn = 0; turn < 3; turn += 1) {
    assert.deepEqual(await take(open(caller, 900, { limits, ...key })), ['uncovered'])
  }
  await close(first, 1n)
  assert.deepEqual(await take(open(caller, 900, { limits, ...key })), ['held'])
})

test('whatever is taken and closed, open calls are covered together or one is alone', async () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({
        take: fc.array(
          fc.record({
            amount: fc.integer({ min: 0, max: 300 }),
            excess: fc.option(fc.integer({ min: 1, max: 900 }), { nil: undefined }),
          }),
          { minLength: 1, maxLength: 4 },
        ),
      }),
      fc.record({ close: fc.nat(20), charge: fc.option(fc.bigInt(0n, 1_200n)) }),
    ),
    { maxLength: 12 },
  )
  await fc.assert(
    fc.asyncProperty(steps, async (some) => {
      const caller = await createCaller(database.sql, 1_000n)
      const held = new Map<string, HoldRow>()
      for (const step of some) {
        if ('take' in step) {
          const rows = step.take.map(({ amount, excess }) =>
            holdRow(caller, {
              amount: String(amount),
              ...(excess === undefined ? {} : { excess: String(excess) }),
            }),
          )
          const verdicts = await take(...rows)
          const { available } = await balanceOf(caller)
          for (const [index, row] of rows.entries()) {
            if (verdicts[index] === 'held') held.set(row.id, row)
          }
          const running = [...held.values()].filter(({ excess }) => excess !== undefined)
          const isNew = rows.some((row) => row.excess !== undefined && held.has(row.id))
          const sum = running.reduce((all, { excess }) => all + BigInt(excess ?? 0), 0n)
          if (isNew && running.length > 1) {
            assert.ok(sum <= available, `${running.length} open calls: ${sum} of ${available}`)
          }
        } else {
          const row = [...held.values()][step.close]
          if (!row) continue
          await close(row, step.charge)
          held.delete(row.id)
        }
      }
    }),
    { numRuns: 40 },
  )
  assert.deepEqual(await brokenInvariants(database.sql), [])
})

async function balanceOf({ accountId }: TestCaller): Promise<{ available: bigint }> {
  const [row] = await database.sql<{ available: string }[]>`
    select available::text as available from balance where account_id = ${accountId}`
  return { available: BigInt(row?.available ?? 0) }
}
