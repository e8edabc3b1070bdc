/**
 * Proves that malformed requests and half-open connections neither crash, slow down nor fill a
 * gateway.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'
import type { CreatedKey } from '../../../server/money/accounts/manage-keys.ts'
import { audit } from '../../../server/money/ledger/audit/audit.ts'
import { type FinishedCall, planCall, sendCall } from '../../../testbed/calls.ts'
import { waitForHolds } from '../../../testbed/holds.ts'
import { openLaboratory } from '../../../testbed/laboratory.ts'
import type { Random } from '../../../testbed/random.ts'
import { quantile, table } from '../../../testbed/results.ts'
import type { GatewayProcess } from '../../../tests/support/gateway.ts'
import { type RawAnswer, sendRaw } from '../../../tests/support/raw.ts'
import { type HostileRequest, makeRequest } from './requests.ts'
import { holdSlowly, type SlowConnection } from './slowloris.ts'

const WARM_UP = 3_000
const WARM_UP_CONNECTIONS = 500
const WARM_UP_MS = 14_000
const CONCURRENT = 8
const HEALTHY_PER_SECOND = 20
const ANSWER_MS_MAX = 1_000
const HEAD_MS_MAX = 15_000
const BODY_MS_MAX = 65_000
const LIMIT_MS = 75_000
const SETTLE_MS = 60_000
const GROWTH_MB_MAX = 50

interface Judged {
  readonly name: string
  readonly answer: RawAnswer
  readonly problem: string | undefined
}

export interface MalformedVerdict {
  readonly ok: boolean
  readonly figures: object
  readonly lines: readonly string[]
}

export interface MalformedOptions {
  readonly requests: number
  /** The number of half-open connections. */
  readonly connections: number
  readonly postgres: string
  readonly random: Random
}

/** Shared by the parts of the proof. */
interface Place {
  readonly gateway: GatewayProcess
  readonly random: Random
}

/** Without requests and connections nothing is proven. */
export async function proveMalformed(options: MalformedOptions): Promise<MalformedVerdict> {
  const { requests, connections, postgres, random } = options
  if (requests + connections === 0) return { ok: true, figures: {}, lines: [] }
  const laboratory = await openLaboratory({ accounts: 2, keys: 2, postgres })
  const [healthyKey, hostileKey] = laboratory.keys
  // All of the hostile requests are read, though they come from one key.
  const gateway = await laboratory.startGateway({ REFUSALS_PER_MINUTE: '10000000' })
  const place = { gateway, random }
  try {
    if (!healthyKey || !hostileKey) throw new Error('no keys')
    const observed = await observe(place, options, healthyKey, hostileKey)
    const audited = await laboratory.withDatabase(async (sql) => {
      await waitForHolds(sql)
      return (await audit(sql)).ok
    })
    return conclude(options, { ...observed, audited, hasExited: gateway.hasExited() })
  } finally {
    await gateway.stop()
    await laboratory.close()
  }
}

async function observe(
  place: Place,
  { requests, connections }: MalformedOptions,
  healthyKey: CreatedKey,
  hostileKey: CreatedKey,
) {
  const { gateway, random } = place
  // Excludes memory that a process allocates once and keeps.
  const warmUp = holdSlowly(gateway.url, hostileKey.key, WARM_UP_CONNECTIONS, WARM_UP_MS, random)
  await Promise.all([warmUp, attack(place, WARM_UP, hostileKey.key)])
  const alone = await sendHealthy(place, healthyKey, sleep(5_000))
  const beforeMb = readMemoryMb(gateway)
  const slow = holdSlowly(gateway.url, hostileKey.key, connections, LIMIT_MS, random)
  const attacked = attack(place, requests, hostileKey.key)
  const healthy = sendHealthy(place, healthyKey, Promise.all([attacked, slow]))
  const [judged, held, beside] = await Promise.all([attacked, slow, healthy])
  const afterMb = await waitForMemory(gateway, beforeMb)
  return { judged, held, alone, beside, beforeMb, afterMb }
}

/** Sends malformed requests, a few at a time, and judges each answer. */
async function attack({ gateway, random }: Place, count: number, key: string): Promise<Judged[]> {
  const judged: Judged[] = []
  let remaining = count
  const work = async () => {
    while (remaining > 0) {
      remaining -= 1
      const request = makeRequest(random, key)
      const { bytes, halfClose } = request
      const answer = await sendRaw(gateway.url, bytes, { halfClose, timeoutMs: 5_000 })
      const problem = findProblem(gateway, request, answer)
      if (problem) {
        const head = bytes.subarray(0, 300).toString('latin1')
        console.log(`${request.name}: ${problem}\n    ${JSON.stringify(head)}`)
      }
      judged.push({ name: request.name, answer, problem })
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT }, work))
  return judged
}

function findProblem(
  gateway: GatewayProcess,
  request: HostileRequest,
  answer: RawAnswer,
): string | undefined {
  if (gateway.hasExited()) return 'the gateway ended'
  if (answer.status >= 500) return `answered ${answer.status} ${answer.body.toString()}`
  if (answer.ending === 'silent') return 'no answer'
  if (answer.firstByteMs > ANSWER_MS_MAX) return `answered after ${answer.firstByteMs} ms`
  const closedWithoutResponse = answer.status === 0
  if (closedWithoutResponse && request.name.startsWith('body')) return 'closed without an answer'
  return undefined
}

/** Sends regular calls at a steady rate until `over`; all of them must succeed. */
async function sendHealthy(
  { gateway, random }: Place,
  key: CreatedKey,
  over: Promise<unknown>,
): Promise<FinishedCall[]> {
  const agent = new Agent({ connections: 100 })
  const calls: Promise<FinishedCall>[] = []
  const timer = setInterval(() => {
    const call = planCall(random, `h${calls.length}`, undefined, 0)
    calls.push(sendCall(agent, gateway.url, call, key))
  }, 1000 / HEALTHY_PER_SECOND)
  await over
  clearInterval(timer)
  const finished = await Promise.all(calls)
  await agent.destroy()
  return finished
}

function readMemoryMb(gateway: GatewayProcess): number {
  const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024
}

/** Waits up to a minute for the garbage collector to free the memory. */
async function waitForMemory(gateway: GatewayProcess, beforeMb: number): Promise<number> {
  const deadline = performance.now() + SETTLE_MS
  while (readMemoryMb(gateway) > beforeMb + GROWTH_MB_MAX && performance.now() < deadline) {
    await sleep(1_000)
  }
  return readMemoryMb(gateway)
}

function isLate({ part, closedMs }: SlowConnection): boolean {
  return closedMs === null || closedMs > (part === 'head' ? HEAD_MS_MAX : BODY_MS_MAX)
}

function countStatuses(judged: readonly Judged[]): Record<string, number> {
  const statuses: Record<string, number> = {}
  for (const { answer } of judged) {
    const name = answer.status === 0 ? 'closed' : String(answer.status)
    statuses[name] = (statuses[name] ?? 0) + 1
  }
  return statuses
}

function p99(calls: readonly FinishedCall[]): number {
  const times = calls.map(({ milliseconds }) => milliseconds)
  return Math.round(quantile(times, 0.99))
}

function slowest(held: readonly SlowConnection[], part: SlowConnection['part']): number {
  const times = held.filter((one) => one.part === part).map((one) => one.closedMs ?? LIMIT_MS)
  return Math.round(Math.max(0, ...times))
}

function conclude(
  { requests, connections }: MalformedOptions,
  observed: {
    readonly judged: readonly Judged[]
    readonly held: readonly SlowConnection[]
    readonly alone: readonly FinishedCall[]
    readonly beside: readonly FinishedCall[]
    readonly beforeMb: number
    readonly afterMb: number
    readonly audited: boolean
    readonly hasExited: boolean
  },
): MalformedVerdict {
  const { judged, held, beside, audited, hasExited } = observed
  const problems = judged
    .filter(({ problem }) => problem)
    .map((one) => `${one.name}: ${one.problem}`)
  const late = held.filter(isLate).length
  const failed = beside.filter(({ outcome }) => outcome !== 'complete').length
  const growthMb = Math.round(observed.afterMb - observed.beforeMb)
  const isHarmless = problems.length + late + failed === 0
  const ok = isHarmless && audited && growthMb <= GROWTH_MB_MAX && !hasExited
  const statuses = countStatuses(judged)
  const times = judged.map(({ answer }) => answer.firstByteMs)
  const answerMs = { p99: quantile(times, 0.99), max: Math.max(...times) }
  const closedMs = { head: slowest(held, 'head'), body: slowest(held, 'body') }
  const healthyMs = { alone: p99(observed.alone), attacked: p99(beside) }
  const sums = { requests, connections, statuses, problems, late, failed, audited, growthMb }
  return {
    ok,
    figures: { ok, ...sums, answerMs, closedMs, healthyMs },
    lines: [
      ...table([['answer to what is malformed', 'requests'], ...Object.entries(statuses)]),
      '',
      `slowest answer to a malformed request: ${Math.round(answerMs.max)} ms`,
      `half-open heads were closed after ${closedMs.head} ms at most`,
      `half-open bodies were closed after ${closedMs.body} ms at most`,
      `healthy calls beside: ${beside.length - failed} of ${beside.length} complete`,
      `p99 of theirs: ${healthyMs.alone} ms before, ${healthyMs.attacked} ms beside`,
      `memory: ${growthMb} MB above the ${Math.round(observed.beforeMb)} MB before`,
      `audit ${audited ? 'clean' : 'NOT CLEAN'}`,
      ...problems.slice(0, 50),
    ],
  }
}
