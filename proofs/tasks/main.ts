/**
 * Proves that no task is lost or charged twice when gateways die. Tasks of ten seconds to three
 * hours of the vendor's time run over three gateways on one PostgreSQL, which are killed again and
 * again: `npm run prove:tasks -- [--tasks 10000] [--kill-every 30] [--seed N]`.
 */

import { openPlace } from '../../testbed/laboratory.ts'
import { POSTGRES_OPTION, readOptions } from '../../testbed/options.ts'
import { createRandom } from '../../testbed/random.ts'
import { readConditions, report } from '../../testbed/results.ts'
import { type Comparison, compareBooks } from './books.ts'
import { createUntilKnown, type Fleet, startFleet } from './fleet.ts'
import { startVendor } from './vendor.ts'

const values = readOptions(import.meta.filename, {
  postgres: POSTGRES_OPTION,
  tasks: { type: 'string', default: '10000' },
  'kill-every': { type: 'string', default: '30' },
  seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  longest: { type: 'string', default: '90' },
})
const taskCount = Number(values.tasks)
const killEveryMs = Number(values['kill-every']) * 1000
const seed = Number(values.seed)
/** The real duration of three hours of the vendor's time. */
const longestMs = Number(values.longest) * 1000
const GATEWAYS = 3
const CALLERS = 24
const MODEL = 'doubao-seedance-2-0-260128'
const CREATE_PATIENCE_MS = 180_000
/** The production settings, except for the ten minutes for which an outcome may stay unknown. */
const ENV = { TASK_SUBMIT_TIMEOUT_MS: '5000', TASK_UNKNOWN_MS: '60000', LOG_LEVEL: 'error' }

const conditions = readConditions(
  `npm run prove:tasks -- --tasks ${taskCount} --seed ${seed}`,
  values.postgres,
)
const random = createRandom(seed)
const vendor = await startVendor({ random, msPerSecond: longestMs / 10_800, lostPercent: 0 })
const place = await openPlace(vendor.url, {
  shared: true,
  accounts: 4,
  keys: 40,
  postgres: values.postgres,
})
const fleet = await startFleet(place, GATEWAYS, ENV, random)
let kills = 0
const startedAt = performance.now()
try {
  const taskIds = new Map<string, string>()
  const killing = killNowAndThen(fleet)
  await createAll(taskIds)
  await untilAllEnded()
  await killing.stop()
  const books = await place.withDatabase((sql) => compareBooks(sql, taskIds, vendor.accepted))
  reportResults(books, taskIds.size)
} finally {
  await fleet.stop()
  await place.close()
  await vendor.stop()
}

function killNowAndThen(fleet: Fleet) {
  let stopped = false
  let running = Promise.resolve()
  const timer = setInterval(() => {
    running = running.then(async () => {
      if (stopped) return
      await fleet.killOne()
      kills += 1
      console.log(`${seconds()} s: killed one gateway, ${vendor.accepted.size} tasks so far`)
    })
  }, killEveryMs)
  return {
    async stop() {
      stopped = true
      clearInterval(timer)
      await running
    },
  }
}

async function createAll(taskIds: Map<string, string>): Promise<void> {
  let next = 0
  const caller = async () => {
    while (next < taskCount) {
      const text = `call-${next++}`
      const key = place.keys[next % place.keys.length]?.key ?? ''
      const id = await createUntilKnown(fleet, key, MODEL, text, CREATE_PATIENCE_MS)
      if (id !== undefined) taskIds.set(text, id)
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  console.log(`${seconds()} s: ${taskIds.size} of ${taskCount} calls were answered with a task`)
}

async function untilAllEnded(): Promise<void> {
  const deadline = performance.now() + longestMs + 300_000
  while (performance.now() < deadline) {
    const open = await place.withDatabase(async (sql) => {
      const [row] = await sql<{ open: number }[]>`
        select count(*)::int as open from task where finished_at is null`
      return row?.open ?? 0
    })
    if (open === 0) return
    await new Promise((resolve) => setTimeout(resolve, 2_000))
  }
}

function reportResults(books: Comparison, answered: number): void {
  const late = [...books.lateness].sort((a, b) => a - b)
  const at = (share: number) => Math.round(late[Math.floor((late.length - 1) * share)] ?? 0)
  const { breaks, tasks, succeeded, failed, adopted, writtenOff } = books
  const figures = {
    seed,
    kills,
    calls: taskCount,
    answered,
    tasks,
    succeeded,
    failed,
    adopted,
    writtenOff,
    vendorTasks: vendor.accepted.size,
    vendorPolls: vendor.polls(),
    breaks: breaks.length,
    latenessMs: { p50: at(0.5), p99: at(0.99), max: at(1) },
    seconds: seconds(),
  }
  const lines = [
    `${taskCount} calls, ${answered} answered with a task, ${kills} gateways killed`,
    `${tasks} tasks: ${succeeded} succeeded, ${failed} failed, ${adopted} adopted from the list`,
    `${vendor.accepted.size} taken by the vendor, ${writtenOff} noted as a cost that nobody pays`,
    `from the vendor's end to ours: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`,
    `${breaks.length} breaks of the three books and the audit`,
    ...breaks.slice(0, 20),
  ]
  report('prove-tasks', conditions, figures, lines)
  if (breaks.length > 0 || succeeded + failed !== tasks) process.exitCode = 1
}

function seconds(): number {
  return Math.round((performance.now() - startedAt) / 1000)
}
