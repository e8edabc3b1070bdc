/**
 * Measures whether anything grows: 1,000 streams that come and go, short calls beside them, and the
 * gateway's memory, descriptors and timers once a minute. `npm run bench -- soak [--minutes 60]
 * [--streams 1000] [--rate 250]`; the rate is that of the short calls, a second.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { openLaboratory } from '../../testbed/laboratory.ts'
import { openLiveMemory } from '../../testbed/live-memory.ts'
import { readOptions } from '../../testbed/options.ts'
import { readCpuSeconds } from '../../testbed/proc.ts'
import { readConditions, report, round, table } from '../../testbed/results.ts'
import { findFreePort } from '../../tests/support/free-port.ts'
import { until } from '../../tests/support/until.ts'

const values = readOptions(import.meta.filename, {
  minutes: { type: 'string', default: '60' },
  streams: { type: 'string', default: '1000' },
  rate: { type: 'string', default: '250' },
})
const minutes = Number(values.minutes)
const streams = Number(values.streams)
const rate = Number(values.rate)
const SAMPLE_MS = 60_000
/** The warm-up, during which caches, compiled code and pools grow. */
const WARM_UP_MINUTES = Math.min(10, minutes / 3)
/** A stream lives for 12 to 28 seconds. */
const CHUNKS_MIN = 24
const CHUNKS_MAX = 56
const CHUNK_DELAY_MS = 500
/** Short calls that are due are sent this often. */
const SHORT_CALLS_MS = 20
/** More in flight would open ever more connections while the machine does something else. */
const IN_FLIGHT_MAX = 64
/** Connections to vendors are kept for up to a minute. */
const KEPT_MS_MAX = 90_000
/** The allowed change in either direction. */
const SLOPE_MB_MAX = 0.3

interface Sample {
  readonly minute: number
  readonly rssMb: number
  /** The resident set after the collection: garbage that happens to be there is no growth. */
  readonly settledMb: number
  /** Heap and buffers in use after a collection. */
  readonly liveMb: number
  readonly descriptors: number
  readonly timers: number
  readonly open: number
}

const conditions = readConditions(
  `npm run bench -- soak --minutes ${minutes} --streams ${streams} --rate ${rate}`,
)
const laboratory = await openLaboratory({ keys: 20 })
const memory = openLiveMemory()
const metricsPort = await findFreePort()
const gateway = await laboratory.startGateway({
  ...memory.environment,
  METRICS_PORT: String(metricsPort),
})
const agent = new Agent({ connections: null })
const counts = { streams: 0, calls: 0, failed: 0, open: 0 }
/** Failures and their numbers. */
const failures = new Map<string, number>()
let stopped = false

/** Sends a call, and counts it as failed if its answer is not a whole one. */
async function call(index: number, body: object, isWhole: (text: string) => boolean) {
  const key = laboratory.keys[index % laboratory.keys.length]?.key ?? ''
  try {
    const answer = await request(`${gateway.url}/v1/chat/completions`, {
      dispatcher: agent,
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sim-chat', ...body }),
    })
    const text = await answer.body.text()
    if (!isWhole(text)) countFailure(`${answer.statusCode} ${text.slice(-160)}`)
  } catch (error) {
    countFailure(String(error))
  }
}

function countFailure(reason: string): void {
  counts.failed += 1
  failures.set(reason, (failures.get(reason) ?? 0) + 1)
}

async function stream(index: number): Promise<void> {
  const chunks = CHUNKS_MIN + Math.floor(Math.random() * (CHUNKS_MAX - CHUNKS_MIN))
  const content = `[[chunks:${chunks}]] [[chunk-delay:${CHUNK_DELAY_MS}]]`
  const body = { stream: true, messages: [{ role: 'user', content }] }
  counts.open += 1
  await call(index, body, (text) => text.endsWith('data: [DONE]\n\n'))
  counts.open -= 1
  counts.streams += 1
}

/** Sends short calls at the rate, as long as earlier ones end. */
async function sendShortCalls(): Promise<void> {
  const running = new Set<Promise<void>>()
  const body = { messages: [{ role: 'user', content: 'x'.repeat(1_000) }] }
  const startedAt = performance.now()
  while (!stopped) {
    const due = Math.floor(((performance.now() - startedAt) * rate) / 1_000)
    for (; counts.calls < due && running.size < IN_FLIGHT_MAX; counts.calls += 1) {
      const one = call(counts.calls, body, (text) => text.includes('"usage"'))
      running.add(one)
      one.finally(() => running.delete(one))
    }
    await sleep(SHORT_CALLS_MS)
  }
  await Promise.all(running)
}

async function keepStream(index: number): Promise<void> {
  await sleep((index * CHUNKS_MAX * CHUNK_DELAY_MS) / streams)
  while (!stopped) await stream(index)
}

async function readTimers(): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`)
  const text = await answer.text()
  return Number(/^nodejs_active_resources\{type="Timeout"\} (\d+)/m.exec(text)?.[1] ?? 0)
}

function readRssMb(): number {
  const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1_024
}

async function sample(minute: number): Promise<Sample> {
  const rssMb = readRssMb()
  const descriptors = readdirSync(`/proc/${gateway.pid}/fd`).length
  const timers = await readTimers()
  const liveMb = (await memory.read(gateway)) / 1_024 ** 2
  const settledMb = readRssMb()
  const taken = { minute, rssMb, settledMb, liveMb, descriptors, timers, open: counts.open }
  console.log(JSON.stringify(taken))
  return taken
}

/** Returns the slope of a straight line through the samples, per minute. */
function slopeOf(samples: readonly Sample[], read: (one: Sample) => number): number {
  const mean = (list: readonly number[]) => list.reduce((sum, one) => sum + one, 0) / list.length
  const middle = mean(samples.map(({ minute }) => minute))
  const level = mean(samples.map(read))
  const sum = (term: (one: Sample) => number) =>
    samples.reduce((total, one) => total + term(one), 0)
  const rise = sum((one) => (one.minute - middle) * (read(one) - level))
  return rise / sum((one) => (one.minute - middle) ** 2)
}

const before = await sample(0)
const cpuBefore = readCpuSeconds(gateway.pid)
const running = Array.from({ length: streams }, (_, index) => keepStream(index))
const shortCalls = sendShortCalls()
const samples: Sample[] = []
const startedAt = performance.now()
for (let minute = 1; minute <= minutes; minute += 1) {
  await sleep(startedAt + minute * SAMPLE_MS - performance.now())
  samples.push(await sample(minute))
}
const seconds = (performance.now() - startedAt) / 1_000
const cores = (readCpuSeconds(gateway.pid) - cpuBefore) / seconds
stopped = true
await Promise.all([...running, shortCalls])
await agent.close()
const isIdle = () => readdirSync(`/proc/${gateway.pid}/fd`).length <= before.descriptors + 20
await until('connections to the vendor to close', isIdle, KEPT_MS_MAX).catch(() => undefined)
const after = await sample(minutes + 1)
const rows = await laboratory.withDatabase(async (sql) => {
  const [row] = await sql<{ holds: number; slots: number }[]>`
    select (select count(*)::int from hold where state = 'open') as holds,
      (select count(*)::int from call_slot) as slots`
  return { ...row, auditOk: (await audit(sql)).ok }
})
await gateway.stop()
memory.close()
await laboratory.close()

const steady = samples.filter(({ minute }) => minute >= WARM_UP_MINUTES)
const rssSlope = slopeOf(steady, ({ rssMb }) => rssMb)
const settledSlope = slopeOf(steady, ({ settledMb }) => settledMb)
const liveSlope = slopeOf(steady, ({ liveMb }) => liveMb)
const isFlat = [settledSlope, liveSlope].every((slope) => Math.abs(slope) <= SLOPE_MB_MAX)
const line = (name: string, one: Sample) => {
  const megabytes = [one.rssMb, one.settledMb, one.liveMb].map(Math.round)
  return [name, ...megabytes, one.descriptors, one.timers, one.open]
}
const result = {
  ...counts,
  failures: [...failures],
  cores,
  rssSlope,
  settledSlope,
  liveSlope,
  before,
  samples,
  after,
  rows,
}
report('soak', conditions, result, [
  `${counts.streams} streams and ${counts.calls} short calls, ${counts.failed} failed`,
  ...[...failures].map(([reason, count]) => `  ${count}× ${reason}`),
  `${round(cores)} cores with the database`,
  '',
  ...table([
    ['', 'RSS MB', 'collected', 'live MB', 'descriptors', 'timers', 'streams'],
    line('before', before),
    ...samples.map((one) => line(`minute ${one.minute}`, one)),
    line('after', after),
  ]),
  '',
  `from minute ${Math.ceil(WARM_UP_MINUTES)} on, in MB a minute: RSS ${round(rssSlope)}, ` +
    `after collections ${round(settledSlope)}, live ${round(liveSlope)}`,
  `(goal: the last two within ${SLOPE_MB_MAX} up or down): ${isFlat ? 'met' : 'NOT MET'}`,
  `left over: ${rows.holds} open holds, ${rows.slots} slots`,
  `audit ${rows.auditOk ? 'clean' : 'BROKEN'}`,
])
