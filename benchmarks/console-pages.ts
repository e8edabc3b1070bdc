/**
 * Measures how long the console's pages wait for their data, with a million calls and a hundred
 * thousand tasks in the database. `node benchmarks/console-pages.ts [--calls N] [--tasks N]`.
 */
import { readOptions } from '../testbed/options.ts'
import { median, quantile, readConditions, report, round, table } from '../testbed/results.ts'
import { type AdminStage, startAdmin } from '../tests/admin/support.ts'
import { startTestServer } from '../tests/support/postgres.ts'
import { fill } from './console-pages/fill.ts'
import { QUESTIONS, type Question } from './console-pages/questions.ts'

const values = readOptions(import.meta.filename, {
  calls: { type: 'string', default: '1000000' },
  tasks: { type: 'string', default: '100000' },
  times: { type: 'string', default: '15' },
})
const calls = Number(values.calls)
const tasks = Number(values.tasks)
const times = Number(values.times)
const GOAL_MS = 300

// Its server keeps nothing after the run, so it may trade durability for speed.
process.env.TRIBUTARY_TEST_UNSAFE_DATABASE = '1'
const conditions = readConditions(
  `node benchmarks/console-pages.ts --calls ${calls} --tasks ${tasks}`,
)
const server = await startTestServer()
process.env.TEST_POSTGRES = JSON.stringify(server.place)
const stage = await startAdmin()
try {
  const { accountId } = await stage.house('busy')
  stage.enterOperator('operator')
  const countSeconds = await fill(stage.sql, server.place, accountId, { calls, tasks })
  const rows = []
  for (const question of QUESTIONS) rows.push(await measure(stage, accountId, question))
  reportResults(rows, countSeconds, await measureExport(stage, accountId))
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  await stage.gateway.stop({ drainMs: 1_000 })
  await stage.simulators.stop()
  await server.stop()
}

interface Measured {
  readonly name: string
  readonly medianMs: number
  readonly p95Ms: number
  readonly bytes: number
}

async function measure(from: AdminStage, accountId: string, question: Question): Promise<Measured> {
  const { name, key, turns = 0, isOperator = false } = question
  const params = { ...(!isOperator && { account_id: accountId }), ...question.params }
  const as = isOperator ? 'operator' : 'busy-member'
  let query = { ...question.query }
  const ask = async () => {
    const answer = await from.ask(key, { as, params, query })
    if (answer.status !== 200) throw new Error(`${name}: ${answer.status} ${answer.text}`)
    return answer.text
  }
  for (let turn = 0; turn < turns; turn += 1) {
    query = { ...query, cursor: JSON.parse(await ask()).next_cursor }
  }
  const durations: number[] = []
  let bytes = 0
  for (let time = 0; time < times; time += 1) {
    const start = performance.now()
    bytes = (await ask()).length
    durations.push(performance.now() - start)
  }
  return {
    name,
    medianMs: round(median(durations)),
    p95Ms: round(quantile(durations, 0.95)),
    bytes,
  }
}

async function measureExport(from: AdminStage, accountId: string) {
  const path = `/admin/v1/accounts/${accountId}/usage/export`
  const memoryBefore = process.memoryUsage().rss
  const start = performance.now()
  const answer = await from.fetch(path, { headers: { cookie: 'session=busy-member' } })
  let bytes = 0
  let peak = 0
  for await (const chunk of answer.body ?? []) {
    bytes += (chunk as Uint8Array).length
    peak = Math.max(peak, process.memoryUsage().rss)
  }
  const seconds = round((performance.now() - start) / 1000)
  return { seconds, mb: round(bytes / 1e6), memoryMb: round((peak - memoryBefore) / 1e6) }
}

function reportResults(
  rows: readonly Measured[],
  countSeconds: number,
  exported: Awaited<ReturnType<typeof measureExport>>,
): void {
  const slow = rows.filter(({ medianMs }) => medianMs > GOAL_MS)
  const lines = [
    ...table([
      ['page', 'median ms', 'p95 ms', 'bytes'],
      ...rows.map(({ name, medianMs, p95Ms, bytes }) => [name, medianMs, p95Ms, bytes]),
    ]),
    '',
    `${rows.length - slow.length} of ${rows.length} answer within ${GOAL_MS} ms at the median.`,
    `Counting all calls for the first time: ${round(countSeconds)} s.`,
    `Export of the account: ${exported.mb} MB in ${exported.seconds} s, ` +
      `${exported.memoryMb} MB of memory more in a process that also reads it.`,
  ]
  report('console-pages', conditions, { rows, countSeconds, exported }, lines)
}
