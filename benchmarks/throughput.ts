/**
 * Measures the requests that each path to the same upstream carries on one core, and the cost of
 * one. `node benchmarks/throughput.ts [--rounds 5] [--seconds 4] [--body 300]`; with Portkey in
 * `npm run bench`. Each path is warmed up first: what Node compiles meanwhile is no part of a call.
 */
import { readOptions } from '../testbed/options.ts'
import { median, readConditions, report, round, table } from '../testbed/results.ts'
import { type CallCosts, measureCalls } from './peers/measure-calls.ts'
import {
  type Peer,
  startBareNode,
  startNginx,
  startPortkey,
  startPrototype,
  startTributary,
  startUpstream,
} from './peers/start-peers.ts'

const values = readOptions(import.meta.filename, {
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '4' },
  connections: { type: 'string', default: '32' },
  'warm-up': { type: 'string', default: '20' },
  body: { type: 'string', default: '1' },
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
const connections = Number(values.connections)
const warmUp = Number(values['warm-up'])
/** The size of each request in kilobytes; answers to large ones have 100. */
const kilobytes = Number(values.body)
const KINDS = [`${kilobytes} KB bodies`, '100-chunk streams'] as const

interface Measured extends CallCosts {
  readonly kind: string
  readonly peer: string
}

const conditions = readConditions(
  `npm run bench -- throughput --rounds ${rounds} --seconds ${seconds}` +
    ` --connections ${connections} --warm-up ${warmUp}` +
    (kilobytes > 1 ? ` --body ${kilobytes}` : ''),
)
const upstream = await startUpstream()
const started = [
  await startNginx(upstream.url),
  await startBareNode(upstream.url),
  await startPortkey(upstream.url),
  await startPrototype(upstream.url),
  await startTributary(upstream.url),
]
const peers = started.filter((peer): peer is Peer => peer !== undefined)
const measured: Measured[] = []
try {
  for (const kind of KINDS) {
    const able = peers.filter((peer) => kind === KINDS[0] || !peer.wholeOnly)
    for (const peer of able) await measure(peer, kind, warmUp)
    for (let turn = 0; turn < rounds; turn += 1) {
      for (const peer of able) {
        const one = await measure(peer, kind, seconds)
        measured.push(one)
        console.log(`${one.kind}  ${one.peer}: ${Math.round(one.perSecond)}/s`)
      }
    }
  }
} finally {
  await Promise.all(peers.map((peer) => peer.stop()))
  await upstream.stop(2_000)
}
finish()

async function measure(peer: Peer, kind: string, duration: number): Promise<Measured> {
  const options = { stream: kind !== KINDS[0], connections, seconds: duration, kilobytes }
  return { kind, peer: peer.name, ...(await measureCalls(peer, options)) }
}

function finish(): void {
  const lines: string[] = []
  const medians: Record<string, Record<string, object>> = {}
  for (const kind of KINDS) {
    const able = peers.filter((peer) => kind === KINDS[0] || !peer.wholeOnly)
    const rows = able.map(({ name }) => {
      const samples = measured.filter((one) => one.kind === kind && one.peer === name)
      const perSecond = median(samples.map((one) => one.perSecond))
      const cpu = median(samples.map((one) => one.gatewayMicroseconds))
      const database = median(samples.map((one) => one.databaseMicroseconds))
      const errors = samples.reduce((sum, one) => sum + one.errors, 0)
      medians[kind] = { ...medians[kind], [name]: { perSecond, cpu, database, errors } }
      return { name, perSecond, cpu, database, errors }
    })
    const bare = rows.find(({ name }) => name.startsWith('bare'))
    const title = [kind, 'requests/s', 'of bare', 'µs of CPU', 'of bare', 'database µs', 'errors']
    const cells = rows.map(({ name, perSecond, cpu, database, errors }) => [
      name,
      Math.round(perSecond),
      `${round(perSecond / (bare?.perSecond ?? 1))}×`,
      Math.round(cpu),
      `${round(cpu / (bare?.cpu ?? 1))}×`,
      Math.round(database),
      errors,
    ])
    lines.push(...table([title, ...cells]), '')
  }
  lines.push(
    `${connections} connections; the server on one core, wrk, upstream and database on another;`,
    `interleaved, medians of ${rounds} runs of ${seconds} s after ${warmUp} s each.`,
    'CPU is user and system time each.',
  )
  report(
    ['throughput', connections !== 32 && connections, kilobytes > 1 && `${kilobytes}-kb`]
      .filter(Boolean)
      .join('-'),
    conditions,
    { rounds, seconds, medians, measured },
    lines,
  )
}
