/**
 * Proves that submissions with an unknown outcome are resolved. Gateways die inside submit, at
 * named lines and by a kill while the vendor works; answers are cut off or never come. The vendors'
 * book, the gateway's and each caller's charge are compared call by call: `npm run
 * prove:submissions -- [--bad 200] [--seed N]`.
 */

import { openPlace } from '../../testbed/laboratory.ts'
import { POSTGRES_OPTION, readOptions } from '../../testbed/options.ts'
import { createRandom } from '../../testbed/random.ts'
import { readConditions, report, table } from '../../testbed/results.ts'
import type { GatewayProcess } from '../../tests/support/gateway.ts'
import {
  applyProofCatalog,
  CASE_KINDS,
  type Call,
  isCalledBackInTime,
  requestOf,
} from './case-kinds.ts'
import {
  type CallerResponse,
  type Judgement,
  judgeSubmissions,
  type SentCall,
} from './judge-submissions.ts'
import { type Fate, startSubmissionVendor } from './submission-vendor.ts'

const values = readOptions(import.meta.filename, {
  postgres: POSTGRES_OPTION,
  bad: { type: 'string', default: '200' },
  seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
})
const badMin = Number(values.bad)
const seed = Number(values.seed)
const GATEWAYS = 3
const CALLERS_EACH = 2
const FAILS_PERCENT = 5
/** Every third call succeeds. `kill` costs a restart, so it is rare. */
const FATES: readonly [Fate, ...Fate[]] = [
  ...(['answer', 'answer', 'answer', 'answer', 'answer'] as const),
  ...([
    'lose',
    'lose',
    'lose',
    'lose',
    'hang',
    'hang',
    'ignore',
    'ignore',
    'kill',
    'kill',
  ] as const),
]
/** The lines of a submission, and the pass at which a gateway dies there. */
const LINES = ['task-held', 'task-sending', 'task-sent', 'task-accepted'] as const
const PASSES = [1, 4] as const
const ENV = {
  TASK_SUBMIT_TIMEOUT_MS: '1000',
  TASK_UNKNOWN_MS: '15000',
  TASK_LEASE_MS: '2500',
  TASK_POLL_INTERVAL_MIN_MS: '100',
  TASK_POLL_INTERVAL_MAX_MS: '500',
  LOG_LEVEL: 'silent',
  // The vendor's callbacks reach any running gateway, as through a load balancer.
  PUBLIC_URL: 'https://gateways.example',
}
const END_MS = 240_000

const conditions = readConditions(
  `npm run prove:submissions -- --bad ${badMin} --seed ${seed}`,
  values.postgres,
)
const random = createRandom(seed)
const calls: readonly Call[] = Array.from({ length: 2 * badMin }, (_, index) => ({
  kind: CASE_KINDS[index % CASE_KINDS.length] ?? 'crowded',
  text: `o${index}`,
}))
const fates = new Map(calls.map(({ text }) => [text, random.pick(FATES)]))
const failing = new Set(
  calls.flatMap(({ text }) => (random.next() * 100 < FAILS_PERCENT ? [text] : [])),
)
const gateways = new Set<GatewayProcess>()
const sender = new Map<string, GatewayProcess>()
const killed = new Set<GatewayProcess>()
const crashes: Record<string, number> = {}
const results: SentCall[] = []
let next = 0
let bad = 0

const vendor = await startSubmissionVendor({
  fateOf: (text) => fates.get(text) ?? 'answer',
  failsOf: (text) => failing.has(text),
  async kill(text) {
    const gateway = sender.get(text)
    if (!gateway || gateway.hasExited()) return
    killed.add(gateway)
    await gateway.kill9()
  },
  async callBack(path, body) {
    const gateway = [...gateways].findLast((gateway) => !gateway.hasExited())
    if (!gateway) return false
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = await fetch(gateway.url + path, init).catch(() => undefined)
    await answer?.arrayBuffer().catch(() => undefined)
    return answer?.ok ?? false
  },
})
const place = await openPlace(vendor.url, {
  shared: true,
  accounts: calls.length,
  keys: calls.length,
  postgres: values.postgres,
})
try {
  await place.withDatabase((sql) => applyProofCatalog(sql, vendor.url, calls))
  await Promise.all(Array.from({ length: GATEWAYS }, (_, index) => keepGatewayRunning(index)))
  const survivor = await start({})
  await untilAllEnded()
  reportResults(await place.withDatabase((sql) => judgeSubmissions(sql, results, vendor.accepted)))
  await survivor.stop(5_000)
} finally {
  await place.close()
  await vendor.stop()
}

/**
 * Runs one gateway after another, each of which dies at some line, until enough calls ended badly
 * or none are left.
 */
async function keepGatewayRunning(index: number): Promise<void> {
  for (let round = index; bad < badMin && next < calls.length; round += 1) {
    const line = LINES[round % LINES.length] ?? 'task-sent'
    const pass = random.integer(...PASSES)
    const gateway = await start({ TRIBUTARY_FAIL: `${line}:${pass}` })
    await Promise.all(Array.from({ length: CALLERS_EACH }, () => callUntilExit(gateway)))
    if (gateway.hasExited()) {
      const how = killed.has(gateway) ? 'killed while the vendor worked' : line
      crashes[how] = (crashes[how] ?? 0) + 1
    } else {
      await gateway.stop(5_000)
    }
    console.log(
      `${bad} calls ended badly, ${vendor.accepted.length} accepted, ${total(crashes)} crashes`,
    )
  }
}

async function start(env: Readonly<Record<string, string>>): Promise<GatewayProcess> {
  const gateway = await place.startGateway({ ...ENV, ...env })
  gateways.add(gateway)
  return gateway
}

async function callUntilExit(gateway: GatewayProcess): Promise<void> {
  while (!gateway.hasExited() && bad < badMin) {
    const call = calls[next]
    const key = place.keys[next]
    if (!call || !key) return
    next += 1
    sender.set(call.text, gateway)
    const response = await ask(gateway, key.key, call)
    if (response.status === undefined || response.status === 502) bad += 1
    results.push({ ...call, accountId: key.account_id, response })
  }
}

async function ask(gateway: GatewayProcess, key: string, call: Call): Promise<CallerResponse> {
  const { path, body } = requestOf(call)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  try {
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = await fetch(gateway.url + path, init)
    const { id } = (await answer.json()) as { id?: string }
    // 503: refused before anything was sent, because the database was slow. Judged like the others.
    if ([200, 502, 503].includes(answer.status)) return { status: answer.status, id }
    throw new TypeError(`an answer of ${answer.status}`)
  } catch (error) {
    if (!gateway.hasExited()) await Promise.race([gateway.exited, waitTwoSeconds()])
    if (!gateway.hasExited()) throw error
    return { status: undefined }
  }
}

function waitTwoSeconds(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 2_000))
}

async function untilAllEnded(): Promise<void> {
  const deadline = performance.now() + END_MS
  while (performance.now() < deadline) {
    const open = await place.withDatabase(async (sql) => {
      const [row] = await sql<{ open: number }[]>`
        select count(*)::int as open from task where finished_at is null`
      return row?.open ?? 0
    })
    if (open === 0) return
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
}

function reportResults({ breaks, tallies, adoptedBy }: Judgement): void {
  const rows = CASE_KINDS.map((kind) => [kind, ...Object.values(tallies[kind])])
  const [head] = CASE_KINDS.map((kind) => ['kind', ...Object.keys(tallies[kind])])
  const told = vendor.accepted.filter(({ calledBackMs }) => calledBackMs !== undefined)
  const late = told.filter((task) => !isCalledBackInTime(task)).length
  const lines = [
    `${results.length} calls, of which ${bad} were not answered with a task`,
    `${total(crashes)} gateways died inside submit: ${inWords(crashes)}`,
    `${total(adoptedBy)} tasks adopted: by ${inWords(adoptedBy)}`,
    `${told.length} tasks were called back, ${late} too late to be identified by it`,
    '',
    ...table([head ?? [], ...rows]),
    '',
    `${breaks.length} breaks of the books, call by call, and of the audit`,
    ...breaks.slice(0, 20),
  ]
  const figures = { seed, calls: results.length, bad, crashes, adoptedBy, tallies }
  report('prove-submissions', conditions, { ...figures, breaks }, lines)
  if (breaks.length > 0 || bad < badMin) process.exitCode = 1
}

function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, one) => sum + one, 0)
}

function inWords(counts: Readonly<Record<string, number>>): string {
  const words = Object.entries(counts).map(([name, count]) => `${count} ${name}`)
  return words.length > 0 ? words.join(', ') : 'none'
}
