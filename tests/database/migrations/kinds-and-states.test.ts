/** The conditions of columns let the kinds and states of the lists, and nothing else. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  ASSET_KINDS,
  BUDGET_ACTIONS,
  BUDGET_PERIODS,
  BUDGET_SCOPES,
  BUDGET_UNITS,
  COPY_STATES,
  CREDIT_KINDS,
  DELIVERY_OUTCOMES,
  DELIVERY_STATES,
  TASK_KINDS,
  TASK_STATES,
} from '../../../server/base/lib/kinds-and-states.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

const COLUMNS: readonly (readonly [table: string, column: string, list: readonly string[]])[] = [
  ['task', 'kind', TASK_KINDS],
  ['task', 'state', ['submitting', ...TASK_STATES]],
  ['credit', 'kind', CREDIT_KINDS],
  ['delivery', 'state', DELIVERY_STATES],
  ['delivery_attempt', 'outcome', DELIVERY_OUTCOMES],
  ['asset', 'kind', ASSET_KINDS],
  ['asset', 'state', COPY_STATES],
  ['budget', 'scope', BUDGET_SCOPES],
  ['budget', 'unit', BUDGET_UNITS],
  ['budget', 'period', BUDGET_PERIODS],
  ['budget', 'action', BUDGET_ACTIONS],
]

for (const [table, column, list] of COLUMNS) {
  test(`${table}.${column}`, async () => {
    const conditions = await database.sql<{ text: string }[]>`
      select pg_get_constraintdef(oid) as text from pg_constraint
      where conrelid = ${table}::regclass and contype = 'c'`
    const start = `CHECK ((${column} = ANY (`
    const own = conditions.filter(({ text }) => text.startsWith(start))
    const allowed = own.map(({ text }) =>
      [...text.matchAll(/'(\w+)'::text/g)].map(([, word]) => word),
    )
    assert.deepEqual(
      allowed.map((words) => words.sort()),
      [[...list].sort()],
    )
  })
}
