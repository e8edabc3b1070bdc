/**
 * How long until each page of the console stands in a browser, with a million calls and a hundred
 * thousand tasks in the database? `node benchmarks/console-opens.ts [--calls N] [--tasks N]`.
 */
import { parseArgs } from 'node:util'
import { openPage } from '../tests/console/support/browser.ts'
import { listPages } from '../tests/console/support/list-pages.ts'
import { type ConsoleStage, startConsoleStage } from '../tests/console/support/stage.ts'
import { startTestServer } from '../tests/support/postgres.ts'
import { fill } from './console-pages/fill.ts'
import { countBytes, open, watchOpenings } from './console-pages/watch-opening.ts'
import { circumstances, median, quantile, report, round, table } from './support/results.ts'

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '1000000' },
    tasks: { type: 'string', default: '100000' },
    times: { type: 'string', default: '7' },
  },
})
const amounts = { calls: Number(values.calls), tasks: Number(values.tasks) }
const times = Number(values.times)
const GOAL_MS = 1_000
const FIRST_LOAD_KB_MAX = 300

/** What lies beside lists, at addresses of its own. */
const DETAILS = ['/usage?id=req_seed0', '/tasks?id=task_seed0']

interface Opened {
  readonly path: string
  /** With nothing of the console in the browser's cache. */
  readonly firstMs: number
  readonly againMs: number
  readonly againP95Ms: number
  readonly kilobytes: number
}

// Its server forgets everything at the end, so it may be a fast one.
process.env.TRIBUTARY_TEST_UNSAFE_DATABASE = '1'
const made = circumstances(
  `node benchmarks/console-opens.ts --calls ${amounts.calls} --tasks ${amounts.tasks}`,
)
const server = await startTestServer()
process.env.TEST_POSTGRES = JSON.stringify(server.place)
const stage = await startConsoleStage()
try {
  await fill(stage.sql, server.place, stage.account.id, amounts)
  const rows = [
    await measureSignIn(stage),
    ...(await measure(stage, false)),
    ...(await measure(stage, true)),
  ]
  tell(rows)
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  await stage.stop()
  await server.stop()
}

/** The first page of all: what everybody loads who has never been here. */
async function measureSignIn({ browser, console }: ConsoleStage): Promise<Opened> {
  const firsts: number[] = []
  let bytes = 0
  for (let time = 0; time < times; time += 1) {
    const { page, context } = await openPage(browser)
    await watchOpenings(context)
    const count = await countBytes(page)
    firsts.push(await open(page, `${console}/sign-in`))
    bytes = count()
    await context.close()
  }
  const firstMs = round(median(firsts))
  return { path: '/sign-in', firstMs, againMs: 0, againP95Ms: 0, kilobytes: round(bytes / 1000) }
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
  const rows: Opened[] = []
  for (const path of paths) {
    const separator = path.includes('?') ? '&' : '?'
    const url = `${base}${path}${operator ? '' : `${separator}account=${account.id}`}`
    const page = await context.newPage()
    const session = await context.newCDPSession(page)
    await session.send('Network.clearBrowserCache')
    const count = await countBytes(page)
    const firstMs = round(await open(page, url))
    const kilobytes = round(count() / 1000)
    const again: number[] = []
    for (let time = 0; time < times; time += 1) again.push(await open(page, url))
    await page.close()
    const againMs = round(median(again))
    rows.push({ path, firstMs, againMs, againP95Ms: round(quantile(again, 0.95)), kilobytes })
  }
  await context.close()
  return rows
}

function tell(rows: readonly Opened[]): void {
  const isFast = ({ firstMs, againMs }: Opened) => Math.max(firstMs, againMs) <= GOAL_MS
  const first = rows[0]?.kilobytes ?? 0
  const lines = [
    ...table([
      ['page', 'first ms', 'again ms', 'p95 ms', 'first kB'],
      ...rows.map((row) => [
        row.path,
        ...[row.firstMs, row.againMs || '–', row.againP95Ms || '–', row.kilobytes],
      ]),
    ]),
    '',
    `${rows.filter(isFast).length} of ${rows.length} stand within ${GOAL_MS} ms, ` +
      'with an empty cache and with a full one.',
    `The first page takes ${first} kB of ${FIRST_LOAD_KB_MAX}.`,
  ]
  report('console-opens', made, { rows }, lines)
}
