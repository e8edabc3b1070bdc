/** The counter of tools that were taken out: nothing is lost to a database that is away. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTakenOutCounter } from '../../server/money/usage/taken-out.ts'
import { listTakenOut } from '../../server/money/usage/taken-out-store.ts'
import { createTestDatabase } from '../support/postgres.ts'

const SEARCH = { tool: 'web_search', unit: 'web_search_call' }
const OTHER = { tool: 'other', unit: null }
const HOUR_MS = 3_600_000

test('sums outlive a failed write, and the log names each once an hour', async (context) => {
  const { sql, drop } = await createTestDatabase()
  context.after(drop)
  const lines: unknown[] = []
  const warnings: string[] = []
  let nowMs = 0
  const counter = createTakenOutCounter({
    sql,
    log: {
      info: ({ model, kind, count }) => void lines.push([model, kind, count]),
      warn: (_fields, message) => void warnings.push(message),
    },
    now: () => nowMs,
  })
  const write = () => counter.stop()
  const read = async () => {
    const rows = await listTakenOut(sql, 'm')
    return rows.map(({ tool, unit, answers }) => [tool, unit, Number(answers)])
  }
  await sql`alter table tool_taken_out rename to away`
  counter.add('m', [SEARCH, OTHER])
  await write()
  assert.equal(warnings.length, 1)
  await sql`alter table away rename to tool_taken_out`
  counter.add('m', [SEARCH])
  counter.add('n', [SEARCH])
  await write()
  assert.deepEqual((await read()).sort(), [
    ['other', null, 1],
    ['web_search', 'web_search_call', 2],
  ])
  assert.deepEqual(lines.splice(0), [
    ['m', 'web_search', 2],
    ['m', 'other', 1],
    ['n', 'web_search', 1],
  ])
  for (const minutes of [20, 40, 61]) {
    nowMs = minutes * (HOUR_MS / 60)
    counter.add('m', [SEARCH])
    await write()
  }
  assert.deepEqual(lines, [['m', 'web_search', 3]])
  assert.equal((await listTakenOut(sql)).length, 3)
})
