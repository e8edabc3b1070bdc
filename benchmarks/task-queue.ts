/**
 * Measures how late the queue starts due tasks, and whether a long history slows it down: 500 tasks
 * a minute over one channel, with an empty history and with a million finished tasks, on one
 * PostgreSQL. `node benchmarks/task-queue.ts [--history 1000000] [--seconds 120]`.
 */

import type { Sql } from 'postgres'
import { startVendor } from '../proofs/tasks/vendor.ts'
import { openPlace } from '../testbed/laboratory.ts'
import { readOptions } from '../testbed/options.ts'
import { createRandom } from '../testbed/random.ts'
import { median, quantile, readConditions, report, round, table } from '../testbed/results.ts'

const values = readOptions(import.meta.filename, {
  history: { type: 'string', default: '1000000' },
  seconds: { type: 'string', default: '120' },
})
const history = Number(values.history)
const seconds = Number(values.seconds)
const PER_MINUTE = 500
const MODEL = 'doubao-seedance-2-0-260128'
const SAMPLE_MS = 250
const LISTS = 200

interface Figures {
  readonly created: number
  /** Milliseconds that a task waited past its due time: the longest wait of each sample. */
  readonly lateMs: readonly number[]
  readonly listMs: readonly number[]
  readonly getMs: readonly number[]
  readonly polls: number
}

const conditions = readConditions(
  `node benchmarks/task-queue.ts --history ${history} --seconds ${seconds}`,
)
const random = createRandom(1)
const vendor = await startVendor({ random, msPerSecond: 10, lostPercent: 0 })
const place = await openPlace(vendor.url, { shared: true, accounts: 1, keys: 1 })
const gateway = await place.startGateway({ LOG_LEVEL: 'error' })
const key = place.keys[0]?.key ?? ''
try {
  const before = await place.withDatabase((sql) => measure(sql))
  await place.withDatabase((sql) => addHistory(sql, place.accountIds[0] ?? ''))
  const after = await place.withDatabase((sql) => measure(sql))
  reportResults(before, after)
} finally {
  await gateway.stop(5_000)
  await place.close()
  await vendor.stop()
}

async function measure(sql: Sql): Promise<Figures> {
  const lateMs: number[] = []
  const pollsBefore = vendor.polls()
  const sampler = setInterval(async () => {
    const [row] = await sql<{ late: number }[]>`
      select coalesce(extract(epoch from now() - min(due_at)) * 1000, 0)::float8 as late
      from task where due_at < now()`
    lateMs.push(row?.late ?? 0)
  }, SAMPLE_MS)
  const count = Math.round((PER_MINUTE * seconds) / 60)
  let last = ''
  for (let index = 0; index < count; index += 1) {
    const started = performance.now()
    last = await create(`call-${performance.now()}-${index}`)
    const pauseMs = 60_000 / PER_MINUTE - (performance.now() - started)
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, pauseMs)))
  }
  clearInterval(sampler)
  const listMs = await repeat(() => ask('/v1/videos/generations?limit=50'))
  const getMs = await repeat(() => ask(`/v1/videos/generations/${last}`))
  return { created: count, lateMs, listMs, getMs, polls: vendor.polls() - pollsBefore }
}

async function create(text: string): Promise<string> {
  const answer = await fetch(`${gateway.url}/v1/videos/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, content: [{ type: 'text', text }], ratio: '16:9' }),
  })
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`)
  return ((await answer.json()) as { id: string }).id
}

async function ask(path: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` }
  const answer = await fetch(`${gateway.url}${path}`, { headers })
  await answer.arrayBuffer()
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`)
}

async function repeat(work: () => Promise<void>): Promise<number[]> {
  const times: number[] = []
  for (let index = 0; index < LISTS; index += 1) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return times
}

/** Adds finished tasks with their attempts, as after years of use. */
async function addHistory(sql: Sql, accountId: string): Promise<void> {
  const step = 50_000
  for (let from = 0; from < history; from += step) {
    const to = Math.min(from + step, history) - 1
    await sql`
      insert into task (id, kind, account_id, key_id, request_id, hold_id, endpoint, model, state,
        request, quantities, facts, attempt_id, channel_id, result, due_at, expires_at, created_at,
        finished_at)
      select 'task_old' || n, 'video', ${accountId}, 'key_old', 'req_old' || n, 'hold_old' || n,
        'videos', ${MODEL}, 'succeeded', '{}', '{}', '{}', 'att_old' || n, 'test-ark',
        '{"video_url": "https://media.example/old.mp4"}', null, now(),
        now() - n * interval '10 seconds', now() - n * interval '10 seconds'
      from generate_series(${from}::int, ${to}::int) n`
    await sql`
      insert into task_attempt (id, task_id, number, channel_id, channel_version, upstream_model,
        state, upstream_id, sent_at, ended_at)
      select 'att_old' || n, 'task_old' || n, 1, 'test-ark', 1, ${MODEL}, 'accepted',
        'cgt-old' || n,
        now(), now()
      from generate_series(${from}::int, ${to}::int) n`
  }
  await sql`analyze task`
  await sql`analyze task_attempt`
  console.log(`${history} finished tasks were added`)
}

function reportResults(before: Figures, after: Figures): void {
  const rows = [
    ['', 'empty history', `${history} finished`, 'ratio'],
    row('longest wait after a due time, ms', (one) => Math.max(0, ...one.lateMs)),
    row('the same, p99 of samples, ms', (one) => quantile(one.lateMs, 0.99)),
    row('polls of the vendor', (one) => one.polls),
    row('GET list of 50, median ms', (one) => median(one.listMs)),
    row('GET one, median ms', (one) => median(one.getMs)),
  ]
  function row(name: string, of: (figures: Figures) => number) {
    const [a, b] = [of(before), of(after)]
    return [name, round(a), round(b), a > 0 ? round(b / a) : '-']
  }
  const lines = [`${PER_MINUTE} tasks a minute for ${seconds} s each`, '', ...table(rows)]
  const figures = Object.fromEntries(rows.slice(1).map(([name, ...cells]) => [String(name), cells]))
  report('task-queue', conditions, { history, seconds, figures }, lines)
  if (Math.max(...before.lateMs, ...after.lateMs) > 5_000) process.exitCode = 1
}
