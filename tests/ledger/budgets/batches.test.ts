/** A batch of calls counts towards budgets what its calls count one after the other. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Sql } from 'postgres'
import { createKey } from '../../../server/money/accounts/manage-keys.ts'
import type { BudgetScope, BudgetTerms } from '../../../server/money/ledger/budgets/budget.ts'
import { closeHolds, takeHolds } from '../../../server/money/ledger/posting/move-store.ts'
import type { HoldRow } from '../../../server/money/ledger/store.ts'
import { createRandom, type Random } from '../../../testbed/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'
import { brokenInvariants, createCaller, holdRow, settleRow, type TestCaller } from '../support.ts'
import { giveBudget, setBudgetClock } from './support.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
  // No window ends while its calls are made.
  await setBudgetClock(database.sql, new Date().toISOString())
})
after(() => database.drop())

type Terms = Partial<BudgetTerms & BudgetScope>
/** Which budgets an account may have, from those that every call counts towards to the rarest. */
const KINDS: readonly Terms[][] = [
  [{}],
  [{ unit: 'call', action: 'warn' }, { period: 'day' }],
  [{ unit: 'input_token', period: 'total' }, { thresholds: [50, 100] }],
  [{ scope: 'key' }, { unit: 'output_token' }],
  [{ models: ['a'] }, { scope: 'end_user', end_users_max: 20 }],
  [{ unit: 'call', period: 'week', week_start: 3 }],
  [{ unit: 'input_token' }],
  [{ scope: 'tag', subject: 'web' }, {}, { scope: 'tag', subject: 'red', unit: 'call' }],
]
const SIZES = [2, 3, 12, 30] as const

interface Place {
  readonly callers: readonly TestCaller[]
  readonly budgetIds: readonly string[]
}

/** One call: the same for both accounts. */
interface Plan {
  readonly key: number
  readonly amount: number
  readonly charge: number | null
  readonly more: Partial<HoldRow>
  readonly lines: { unit: string; quantity: number }[]
}

/** An account with two keys, the second with tags, and budgets. */
async function openAccount(sql: Sql, kinds: readonly Terms[], amounts: readonly bigint[]) {
  const caller = await createCaller(sql, 1_000_000n)
  const { accountId } = caller
  const { id: keyId } = await createKey(sql, { accountId })
  await sql`update api_key set tags = '{web}', required_tags = '{red}' where id = ${keyId}`
  const budgetIds: string[] = []
  for (const [index, terms] of kinds.entries()) {
    const subject = terms.scope === 'key' ? { subject: caller.keyId } : {}
    const { id } = await giveBudget(sql, accountId, amounts[index] ?? 0n, { ...terms, ...subject })
    budgetIds.push(id)
  }
  return { callers: [caller, { accountId, keyId }], budgetIds } satisfies Place
}

function plan(random: Random, isOneKey: boolean): Plan {
  const amount = random.integer(0, 60)
  const input = random.integer(0, 50)
  const charged = random.next() < 0.2 ? null : random.integer(0, amount)
  return {
    key: isOneKey ? 0 : random.integer(0, 1),
    amount,
    charge: charged,
    lines: random.next() < 0.3 ? [] : [{ unit: 'input_token', quantity: input }],
    more: {
      model: random.pick(['a', 'b']),
      estimate: { input_token: input, [random.pick(['output_token', 'second'])]: 9 },
      ...(isOneKey ? {} : { labels: { tags: ['red'], end_user: `u${random.integer(1, 12)}` } }),
    },
  }
}

const rowsOf = ({ callers }: Place, plans: readonly Plan[]): HoldRow[] =>
  plans.map(({ key, amount, more }) =>
    holdRow(callers[key] ?? { accountId: '', keyId: '' }, { ...more, amount: String(amount) }),
  )

/** Takes the holds in batches of `size`, and closes those that were taken; returns the verdicts. */
async function live(sql: Sql, place: Place, plans: readonly Plan[], size: number) {
  const rows = rowsOf(place, plans)
  const taken: HoldRow[] = []
  const verdicts: (string | undefined)[] = []
  for (let at = 0; at < rows.length; at += size) {
    const some = rows.slice(at, at + size)
    const told = await takeHolds(sql, some)
    const words = some.map(({ id }) => told.get(id))
    verdicts.push(
      ...words.map((word) => word?.replace(/bud_\w+/, (id) => `${place.budgetIds.indexOf(id)}`)),
    )
    taken.push(...some.filter((_, index) => words[index] === 'held'))
  }
  const held = await readCounters(sql, place)
  for (let at = 0; at < taken.length; at += size) {
    const closing = taken.slice(at, at + size).map((row) => {
      const { charge, lines } = plans[rows.indexOf(row)] as Plan
      const nanos = charge === null ? null : BigInt(charge)
      return { ...settleRow(row, nanos, { lines }), held: row.amount }
    })
    const told = await closeHolds(sql, closing)
    for (const { hold_id: id } of closing) assert.equal(told.get(id), 'closed')
  }
  return { verdicts, held, spent: await readCounters(sql, place) }
}

async function readCounters(sql: Sql, { budgetIds }: Place): Promise<string[]> {
  const rows = await sql<
    { budget_id: string; subject: string; held: bigint; spent: string; subjects: number }[]
  >`select budget_id, subject, held, spent, subjects from budget_use
    where budget_id = any(${budgetIds as string[]})`
  return rows
    .map(({ budget_id, subject, held, spent, subjects }) =>
      [budgetIds.indexOf(budget_id), subject, held, spent, subjects].join(' '),
    )
    .sort()
}

test('batches of any size count what their calls count alone', async () => {
  const { sql } = database
  for (let seed = 1; seed <= 16; seed += 1) {
    const random = createRandom(seed)
    const kinds = KINDS[seed % KINDS.length] ?? []
    const amounts = kinds.map(() => BigInt(random.integer(1, 40) * 50))
    const isOneKey = seed % 4 < 2
    const plans = Array.from({ length: 30 }, () => plan(random, isOneKey))
    const alone = await live(sql, await openAccount(sql, kinds, amounts), plans, 1)
    const place = await openAccount(sql, kinds, amounts)
    assert.deepEqual(await live(sql, place, plans, random.pick(SIZES)), alone, `seed ${seed}`)
  }
  assert.deepEqual(await brokenInvariants(sql), [])
})
