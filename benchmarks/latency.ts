/**
 * Measures the latency that each path adds to the upstream at a rate of requests. An open load:
 * a late answer delays no later request, and time counts from when a request was due. `node
 * benchmarks/latency.ts [--rounds 5] [--seconds 6]`; with Portkey in `npm run bench`. Each path is
 * warmed up at that rate first.
 */
import { readOptions } from '../testbed/options.ts'
import { pinTree } from '../testbed/proc.ts'
import { median, readConditions, report, round, table } from '../testbed/results.ts'
import { type Paced, paceCalls, type Target } from './peers/pace-calls.ts'
import {
  OTHER_CORE,
  type Peer,
  startBareNode,
  startNginx,
  startPortkey,
  startPrototype,
  startTributary,
  startUpstream,
} from './peers/start-peers.ts'
import { PATH } from './peers/wrk.ts'

const values = readOptions(import.meta.filename, {
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '6' },
  rate: { type: 'string', default: '500' },
  'warm-up': { type: 'string', default: '20' },
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
const PER_SECOND = Number(values.rate)
const warmUp = Number(values['warm-up'])
/** Of what the prototype adds. */
const GOAL = 1.3
const DIRECT = 'direct'

interface Measured extends Paced {
  readonly peer: string
}

const conditions = readConditions(
  `npm run bench -- latency --rounds ${rounds} --seconds ${seconds} --rate ${PER_SECOND}` +
    ` --warm-up ${warmUp}`,
)
// Before the peers start: it pins all children, and each peer chooses its core afterwards.
pinTree(process.pid, OTHER_CORE)
const upstream = await startUpstream()
const started = [
  await startNginx(upstream.url),
  await startBareNode(upstream.url),
  await startPortkey(upstream.url),
  await startPrototype(upstream.url),
  await startTributary(upstream.url),
]
const peers = started.filter((peer): peer is Peer => peer !== undefined)
const targets: Target[] = [
  { name: DIRECT, url: upstream.url, headers: {}, path: `/openai${PATH}` },
  ...peers.map(({ name, url, headers }) => ({ name, url, headers, path: PATH })),
]
const measured: Measured[] = []
try {
  for (const target of targets) await measure(target, warmUp)
  for (let turn = 0; turn < rounds; turn += 1) {
    for (const target of targets) {
      const one = await measure(target, seconds)
      measured.push(one)
      console.log(`${one.peer}: p50 ${round(one.p50)} ms, p99 ${round(one.p99)} ms`)
    }
  }
} finally {
  await Promise.all(peers.map((peer) => peer.stop()))
  await upstream.stop(2_000)
}
finish()

async function measure(target: Target, duration: number): Promise<Measured> {
  const paced = await paceCalls(target, { perSecond: PER_SECOND, seconds: duration })
  return { peer: target.name, ...paced }
}

function finish(): void {
  const rows = targets.map(({ name }) => {
    const samples = measured.filter(({ peer }) => peer === name)
    const errors = samples.reduce((sum, one) => sum + one.errors, 0)
    const p50 = median(samples.map((one) => one.p50))
    return { name, p50, p99: median(samples.map((one) => one.p99)), errors }
  })
  const direct = rows.find(({ name }) => name === DIRECT) ?? { p50: 0, p99: 0 }
  const added = rows.map((row) => ({
    ...row,
    addedP50: row.p50 - direct.p50,
    addedP99: row.p99 - direct.p99,
  }))
  const cells = added.map((row) => [
    row.name,
    round(row.p50),
    round(row.addedP50),
    round(row.p99),
    round(row.addedP99),
    row.errors,
  ])
  const verdict = (quantile: 'addedP50' | 'addedP99') => {
    const of = (start: string) => added.find(({ name }) => name.startsWith(start))?.[quantile] ?? 0
    const ratio = of('Tributary') / of('prototype')
    const isMet = ratio <= GOAL
    return `${round(ratio)} times the prototype's, goal ${GOAL}: ${isMet ? 'met' : 'NOT MET'}`
  }
  report(`latency-${PER_SECOND}`, conditions, { rounds, seconds, added, measured }, [
    ...table([['', 'p50 ms', 'added', 'p99 ms', 'added', 'errors'], ...cells]),
    '',
    `added p50: ${verdict('addedP50')}`,
    `added p99: ${verdict('addedP99')}`,
    `${PER_SECOND} requests/s of 1 KB, interleaved, medians of ${rounds} runs of ${seconds} s`,
    `after ${warmUp} s each;`,
    'the server on one core, the load, the upstream and the database on another.',
  ])
}
