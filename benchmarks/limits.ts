/**
 * Measures what limits and budgets add to a hold and its settlement, by the size of their batches,
 * in turns: `node benchmarks/limits.ts [--rounds 7]`.
 */

import type { Sql } from 'postgres'
import { newId, newRequestId } from '../server/base/lib/ids.ts'
import type { CreatedKey } from '../server/money/accounts/manage-keys.ts'
import { addBudget } from '../server/money/ledger/budgets/budgets.ts'
import type { HoldLimits } from '../server/money/ledger/hold-limits.ts'
import { closeHolds, takeHolds } from '../server/money/ledger/posting/move-store.ts'
import { toHoldRow, toSettleRow } from '../server/money/ledger/posting/rows.ts'
import { openPlace } from '../testbed/laboratory.ts'
import { readOptions } from '../testbed/options.ts'
import { median, readConditions, report, round, table } from '../testbed/results.ts'

const values = readOptions(import.meta.filename, { rounds: { type: 'string', default: '7' } })
const rounds = Number(values.rounds)
/** Pairs in a batch, and batches in a measurement. */
const SIZES = [
  [1, 300],
  [8, 100],
  [64, 30],
] as const
const LINES = [{ unit: 'output_token', quantity: 34, amount: '0.0000204' }]

const place = await openPlace('http://127.0.0.1:1', { accounts: 3, keys: 3 })
const [key, once, often] = place.keys
if (!key || !once || !often) throw new Error('no key')
const accountId = key.account_id
const many = 1_000_000_000
const subjects = [
  { name: `account:${accountId}`, requests: many },
  { name: `key:${key.id}`, requests: many, tokens: many, calls: 1_000 },
]

interface Way {
  readonly key: CreatedKey
  readonly limits?: HoldLimits
}

const WAYS: Readonly<Record<string, Way>> = {
  'no limits': { key },
  'requests of the account': { key, limits: { subjects: subjects.slice(0, 1), tokens: 0 } },
  'requests, tokens and calls': { key, limits: { subjects, tokens: 500 } },
  'one budget': { key: once },
  'three budgets': { key: often },
}

async function addBudgets(sql: Sql): Promise<void> {
  const of = { unit: 'money', scope: 'account', subject: '', setBy: 'operator' } as const
  const amount = 10n ** 18n
  await addBudget(sql, { ...of, accountId: once?.account_id ?? '', amount, period: 'month' })
  for (const period of ['day', 'week', 'month'] as const) {
    await addBudget(sql, { ...of, accountId: often?.account_id ?? '', amount, period })
  }
}

/** Returns the microseconds of a pair. */
async function measure(sql: Sql, size: number, batches: number, { key, limits }: Way) {
  const started = performance.now()
  for (let batch = 0; batch < batches; batch += 1) {
    const requests = Array.from({ length: size }, () => ({
      requestId: newRequestId(),
      accountId: key.account_id,
      keyId: key.id,
      endpoint: 'chat.completions',
      model: 'chat',
      priceVersion: 1n,
      amountNanos: 2_458_350n,
      estimate: { input_token: 12, output_token: 400 },
      spendLimitNanos: null,
      limits,
      idempotency: null,
    }))
    const rows = requests.map((request) => {
      return toHoldRow(newId('hold'), request, { ownerId: 'own_bench', taskId: null })
    })
    const taken = await takeHolds(sql, rows)
    const settled = rows.map((row, index) => {
      const settlement = { chargeNanos: 20_400n, status: 'succeeded', basis: 'usage' } as const
      const detail = { ...settlement, lines: LINES, attempts: [] }
      return toSettleRow(row.id, detail, requests[index])
    })
    await closeHolds(sql, settled)
    if (rows.some((row) => taken.get(row.id) !== 'held')) throw new Error('a hold was refused')
  }
  return ((performance.now() - started) * 1_000) / (size * batches)
}

const conditions = readConditions(`node benchmarks/limits.ts --rounds ${rounds}`)
const result: Record<string, Record<string, number>> = {}
try {
  await place.withDatabase(async (sql) => {
    await addBudgets(sql)
    for (const [size, batches] of SIZES) {
      const times: Record<string, number[]> = {}
      for (let turn = 0; turn <= rounds; turn += 1) {
        for (const [name, way] of Object.entries(WAYS)) {
          const took = await measure(sql, size, turn === 0 ? 10 : batches, way)
          if (turn > 0) times[name] = [...(times[name] ?? []), took]
        }
      }
      result[String(size)] = Object.fromEntries(
        Object.entries(times).map(([name, all]) => [name, round(median(all))]),
      )
    }
  })
} finally {
  await place.close()
}
const rowsOfTable = Object.entries(result).map(([size, times]) => {
  return [size, ...Object.keys(WAYS).map((name) => String(times[name]))]
})
const lines = table([['Pairs in a batch', ...Object.keys(WAYS)], ...rowsOfTable])
report('limits', conditions, { microsecondsPerPair: result }, lines)
