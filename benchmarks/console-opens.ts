/**
 * Measures the time until each page of the console is shown in a browser, with a million calls and
 * a hundred thousand tasks in the database. `node benchmarks/console-opens.ts [--calls N] [--tasks
 * N]`.
 */

import { availableParallelism, loadavg } from 'node:os'
import { readOptions } from '../testbed/options.ts'
import { median, readConditions, report, round, table } from '../testbed/results.ts'
import { openPage } from '../tests/console/support/browser.ts'
import { listPages } from '../tests/console/support/list-pages.ts'
import { type ConsoleStage, startConsoleStage } from '../tests/console/support/stage.ts'
import { startTestServer } from '../tests/support/postgres.ts'
import { fill } from './console-pages/fill.ts'
import {
  createOpener,
  type Opener,
  type Opening,
  watchOpenings,
} from './console-pages/watch-opening.ts'

const values = readOptions(import.meta.filename, {
  calls: { type: 'string', default: '1000000' },
  tasks: { type: 'string', default: '100000' },
  times: { type: 'string', default: '5' },
})
const amounts = { calls: Number(values.calls), tasks: Number(values.tasks) }
const times = Number(values.times)
const GOAL_MS = 1_000
const FIRST_LOAD_KB_MAX = 300

/** Detail pages with their own URLs. */
const DETAILS = ['/usage?id=req_seed0', '/tasks?id=task_seed0']

interface Opened {
  readonly path: string
  /** With an empty browser cache: the median, and the fastest. */
  readonly firstMs: number
  readonly firstFastestMs: number
  /** With a warm browser cache. */
  readonly againMs: number
  readonly againFastestMs: number
  readonly processorMs: number
  readonly firstKilobytes: number
}

// Its server keeps nothing after the run, so it may trade durability for speed.
process.env.TRIBUTARY_TEST_UNSAFE_DATABASE = '1'
const conditions = readConditions(
  `node benchmarks/console-opens.ts --calls ${amounts.calls} --tasks ${amounts.tasks}`,
)
const server = await startTestServer()
process.env.TEST_POSTGRES = JSON.stringify(server.place)
// Keeps three months of history from the gateway's housekeeping.
const stage = await startConsoleStage({ env: { DELIVERY_DAYS: '365' } })
try {
  await fill(stage.sql, server.place, stage.account.id, amounts)
  const rows = [
    await measureSignIn(stage),
    ...(await measure(stage, false)),
    ...(await measure(stage, true)),
  ]
  reportResults(rows)
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  await stage.stop()
  await server.stop()
}

/** Measures the sign-in page, which a first visit loads. */
async function measureSignIn({ browser, console }: ConsoleStage): Promise<Opened> {
  const { page, context } = await openPage(browser)
  await watchOpenings(context)
  const row = await measureOne(await createOpener(page), '/sign-in', `${console}/sign-in`)
  await context.close()
  return row
}

async function measure(
  { console: base, signedIn, account }: ConsoleStage,
  operator: boolean,
): Promise<Opened[]> {
  const { context, page: first } = await signedIn('/settings', operator ? { operator } : {})
  const paths = (await listPages(first)).filter((path) => path.startsWith('/operator') === operator)
  if (!operator) paths.push(...DETAILS)
  await first.close()
  await watchOpenings(context)
  const page = await context.newPage()
  const opener = await createOpener(page)
  const rows: Opened[] = []
  for (const path of paths) {
    const separator = path.includes('?') ? '&' : '?'
    const url = `${base}${path}${operator ? '' : `${separator}account=${account.id}`}`
    rows.push(await measureOne(opener, path, url))
  }
  await context.close()
  return rows
}

async function measureOne(opener: Opener, path: string, url: string): Promise<Opened> {
  const firsts: Opening[] = []
  const agains: Opening[] = []
  for (let time = 0; time < times; time += 1) {
    firsts.push(await opener.open(url, { withEmptyCache: true }))
    agains.push(await opener.open(url))
  }
  const timesOf = (openings: readonly Opening[]) => openings.map((one) => one.milliseconds)
  return {
    path,
    firstMs: round(median(timesOf(firsts))),
    firstFastestMs: round(Math.min(...timesOf(firsts))),
    againMs: round(median(timesOf(agains))),
    againFastestMs: round(Math.min(...timesOf(agains))),
    processorMs: round(median(agains.map((one) => one.processorMs))),
    firstKilobytes: round(median(firsts.map((one) => one.bytes)) / 1000),
  }
}

function reportResults(rows: readonly Opened[]): void {
  const count = (isFast: (row: Opened) => boolean) => rows.filter(isFast).length
  const lines = [
    ...table([
      ['page', 'first ms', 'fastest', 'again ms', 'fastest', 'processor ms', 'first kB'],
      ...rows.map((row) => [
        row.path,
        row.firstMs,
        row.firstFastestMs,
        row.againMs,
        row.againFastestMs,
        row.processorMs,
        row.firstKilobytes,
      ]),
    ]),
    '',
    `Within ${GOAL_MS} ms, of ${rows.length}: ` +
      `${count(({ firstMs }) => firstMs <= GOAL_MS)} with an empty cache, ` +
      `${count(({ againMs }) => againMs <= GOAL_MS)} with a full one, at the median.`,
    `The first page takes ${rows[0]?.firstKilobytes} kB of ${FIRST_LOAD_KB_MAX}.`,
    `Load of the machine: ${loadavg()[1]?.toFixed(1)} on ${availableParallelism()} cores.`,
  ]
  report('console-opens', conditions, { rows, load: loadavg() }, lines)
}
