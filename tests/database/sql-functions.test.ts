/** Calls of SQL functions, and what the client keeps of them afterwards. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sql } from 'postgres'
import { callFunctions, sqlFunction } from '../../server/base/database/sql-functions.ts'
import { createTestDatabase } from '../support/postgres.ts'

const UPPER = sqlFunction('upper', 'text')
const ABS = sqlFunction('abs', 'bigint')
const INVERT = sqlFunction('int8um', 'bigint')

/** What the client's query object refers to. */
interface Query {
  readonly args: readonly unknown[]
  readonly parameters: readonly unknown[]
}

/** Records the statements that a client sends. */
function watchStatements(sql: Sql) {
  const statements: (PromiseLike<unknown[]> & Query)[] = []
  const watched = {
    unsafe(...call: Parameters<Sql['unsafe']>) {
      const statement = sql.unsafe(...call)
      statements.push(statement as never)
      return statement
    },
  }
  return { sql: watched as never as Sql, statements }
}

test('one function, or two in one statement, return their results', async (t) => {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const upper = { of: UPPER, values: ['a'] }
  assert.equal((await callFunctions(database.sql, upper)).first, 'A')
  const both = await callFunctions(database.sql, upper, { of: ABS, values: ['-2'] })
  assert.deepEqual({ ...both }, { first: 'A', second: 2n })
})

test('a statement that has succeeded keeps nothing; one that failed, what it sent', async (t) => {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  const { sql, statements } = watchStatements(database.sql)
  await callFunctions(sql, { of: UPPER, values: ['a'] })
  const [succeeded] = statements
  assert.deepEqual([succeeded?.args, succeeded?.parameters], [[], []])
  assert.equal((await succeeded)?.length, 0)

  const least = (-(2n ** 63n)).toString()
  await assert.rejects(callFunctions(sql, { of: INVERT, values: [least] }), /out of range/)
  assert.deepEqual(statements[1]?.args, [least])
})
