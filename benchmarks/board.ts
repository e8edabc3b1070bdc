/**
 * Compares every path to the same upstream by the usual measures of the field: calls a second
 * while 99 % of them end within 1, 5, 10, 50 and 100 ms; added time to the first frame of a stream;
 * late frames; memory. `npm run bench -- board [--rounds 3] [--seconds 2] [--body 300]`, which
 * includes Portkey.
 */
import { readOptions } from '../testbed/options.ts'
import { median, readConditions, report, round, table } from '../testbed/results.ts'
import { type Frames, measureFrames } from './peers/frames.ts'
import { type Memory, measureMemory } from './peers/memory.ts'
import {
  type Peer,
  startBareNode,
  startNginx,
  startPacedUpstream,
  startPortkey,
  startPrototype,
  startTributary,
  startUpstream,
} from './peers/start-peers.ts'
import { PATH, runWrk, type WrkRun } from './peers/wrk.ts'

const values = readOptions(import.meta.filename, {
  rounds: { type: 'string', default: '3' },
  seconds: { type: 'string', default: '2' },
  body: { type: 'string', default: '1' },
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
/** The size of each request in kilobytes; whole answers to large ones have 100. */
const kilobytes = Number(values.body)
const LIMITS_MS = [1, 5, 10, 50, 100]
const CONNECTIONS = [1, 4, 16, 32, 64, 128, 256]
/** Numbers of streams that are open together. */
const STREAMS = [100, 512]
const MEMORY_SECONDS = 20
const WARM_UP_SECONDS = 15
/** Peers that could not be installed from npm or Debian. */
const ABSENT = [
  'Not here: LiteLLM (its npm package is another program; PyPI only), Bifrost (its npm package',
  'fetches a binary from elsewhere), llmgateway and Helicone (not in npm or Debian).',
]

const conditions = readConditions(
  `npm run bench -- board --rounds ${rounds} --seconds ${seconds}` +
    (kilobytes > 1 ? ` --body ${kilobytes}` : ''),
)
const runs = new Map<string, { connections: number; run: WrkRun }[]>()
/** By the number of streams, then by the peer. */
const frames = new Map(STREAMS.map((streams) => [streams, new Map<string, Frames[]>()]))
const memories = new Map<string, Memory>()
await measureWholeAnswers()
await measureStreams()
finish()

async function startAll(upstream: string): Promise<Peer[]> {
  const started = [
    await startNginx(upstream),
    await startBareNode(upstream),
    await startPrototype(upstream),
    await startPortkey(upstream),
    await startTributary(upstream),
  ]
  return started.filter((peer): peer is Peer => peer !== undefined)
}

async function measureWholeAnswers(): Promise<void> {
  const upstream = await startUpstream()
  const peers = await startAll(upstream.url)
  try {
    for (const peer of peers) {
      await runWrk(peer, {
        stream: false,
        connections: 32,
        seconds: WARM_UP_SECONDS,
        kilobytes,
      })
    }
    for (let turn = 0; turn < rounds; turn += 1) {
      for (const connections of CONNECTIONS) {
        for (const peer of peers) {
          const run = await runWrk(peer, { stream: false, connections, seconds, kilobytes })
          push(runs, peer.name, { connections, run })
          const { perSecond, p99Ms } = run
          console.log(`${peer.name}, ${connections}: ${Math.round(perSecond)}/s, p99 ${p99Ms} ms`)
        }
      }
    }
    for (const peer of peers) {
      memories.set(peer.name, await measureMemory(peer, { seconds: MEMORY_SECONDS, kilobytes }))
    }
  } finally {
    await Promise.all(peers.map((peer) => peer.stop()))
    await upstream.stop(2_000)
  }
}

async function measureStreams(): Promise<void> {
  const upstream = await startPacedUpstream()
  const peers = (await startAll(upstream.url)).filter((peer) => !peer.wholeOnly)
  try {
    const direct = { name: 'direct', url: upstream.url, headers: {}, path: `/openai${PATH}` }
    const targets = [direct, ...peers.map((peer) => ({ ...peer, path: PATH }))]
    for (let turn = 0; turn <= rounds; turn += 1) {
      for (const [streams, measured] of frames) {
        for (const target of targets) {
          const one = await measureFrames(target, { streams, kilobytes })
          // The first turn only warms up.
          if (turn > 0) push(measured, target.name, one)
          const { first, errors } = one
          console.log(`${target.name}, ${streams}: first ${round(first)} ms, ${errors} errors`)
        }
      }
    }
  } finally {
    await Promise.all(peers.map((peer) => peer.stop()))
    await upstream.stop(2_000)
  }
}

function push<T>(lists: Map<string, T[]>, name: string, one: T): void {
  lists.set(name, [...(lists.get(name) ?? []), one])
}

/** Returns the most calls a second at a p99 within the limit; 0 if no number of connections is. */
function bestWithin(name: string, limitMs: number): number {
  const measured = runs.get(name) ?? []
  const rates = CONNECTIONS.map((connections) => {
    const same = measured.filter((one) => one.connections === connections).map(({ run }) => run)
    const isWithin = median(same.map((run) => run.p99Ms)) <= limitMs
    return isWithin ? median(same.map((run) => run.perSecond)) : 0
  })
  return Math.round(Math.max(...rates))
}

/** Returns a line of the table of streams for each peer. */
function rowsOf(measured: ReadonlyMap<string, readonly Frames[]>): (string | number)[][] {
  const middle = (name: string, figure: keyof Frames) =>
    median((measured.get(name) ?? []).map((one) => one[figure]))
  return [...measured].map(([name, all]) => [
    name,
    round(middle(name, 'first')),
    round(middle(name, 'first') - middle('direct', 'first')),
    round(middle(name, 'late') * 100),
    round(middle(name, 'p99')),
    all.reduce((sum, one) => sum + one.errors, 0),
  ])
}

function finish(): void {
  const names = [...runs.keys()]
  const best = names.map((name) => [name, ...LIMITS_MS.map((limit) => bestWithin(name, limit))])
  const streams = [...frames].map(([count, measured]) => [count, rowsOf(measured)] as const)
  const memory = [...memories].map(([name, { idle, steady, recovered, growth }]) =>
    [name, ...[idle, steady, recovered, growth].map(Math.round)].map(String),
  )
  const within = LIMITS_MS.map((limit) => `p99 ≤ ${limit} ms`)
  const columns = ['first frame ms', 'added', 'late %', 'p99 ms', 'errors']
  const name = kilobytes > 1 ? `board-${kilobytes}-kb` : 'board'
  report(name, conditions, { rounds, seconds, best, streams, memory, runs: [...runs] }, [
    ...table([['calls a second', ...within], ...best]),
    '',
    ...streams.flatMap(([count, rows]) => [
      ...table([[`${count} streams at once`, ...columns], ...rows]),
      '',
    ]),
    ...table([['memory in MB', 'idle', 'steady', 'recovered', 'growth a minute'], ...memory]),
    '',
    `${kilobytes} KB bodies at ${CONNECTIONS.join(', ')} connections; medians of ${rounds} runs of`,
    `${seconds} s in turns, the server on one core, all else on the other. A frame every 20 ms is`,
    'late 10 ms after the upstream wrote it. Memory is of the server without its database.',
    ...ABSENT,
  ])
}
