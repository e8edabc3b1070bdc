/**
 * Compares every path to the same upstream by the usual measures of the field: calls a second
 * while 99 % of them end within 1, 5, 10, 50 and 100 ms; added time to the first frame of a stream;
 * late frames; memory. `npm run bench -- board [--rounds 3] [--seconds 2]`, which includes Portkey.
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
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
const LIMITS_MS = [1, 5, 10, 50, 100]
const CONNECTIONS = [1, 4, 16, 32, 64, 128, 256]
const MEMORY_SECONDS = 20
const WARM_UP_SECONDS = 15
/** Peers that could not be installed from npm or Debian. */
const ABSENT = [
  'Not here: LiteLLM (its npm package is another program; PyPI only), Bifrost (its npm package',
  'fetches a binary from elsewhere), llmgateway and Helicone (not in npm or Debian).',
]

const conditions = readConditions(`npm run bench -- board --rounds ${rounds} --seconds ${seconds}`)
const runs = new Map<string, { connections: number; run: WrkRun }[]>()
const frames = new Map<string, Frames[]>()
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
      await runWrk(peer, { stream: false, connections: 32, seconds: WARM_UP_SECONDS })
    }
    for (let turn = 0; turn < rounds; turn += 1) {
      for (const connections of CONNECTIONS) {
        for (const peer of peers) {
          const run = await runWrk(peer, { stream: false, connections, seconds })
          push(runs, peer.name, { connections, run })
          const { perSecond, p99Ms } = run
          console.log(`${peer.name}, ${connections}: ${Math.round(perSecond)}/s, p99 ${p99Ms} ms`)
        }
      }
    }
    for (const peer of peers) memories.set(peer.name, await measureMemory(peer, MEMORY_SECONDS))
  } finally {
    await Promise.all(peers.map((peer) => peer.stop()))
    await upstream.stop(2_000)
  }
}

async function measureStreams(): Promise<void> {
  const upstream = await startPacedUpstream()
  const peers = (await startAll(upstream.url)).filter((peer) => !peer.wholeOnly)
  try {
    for (let turn = 0; turn <= rounds; turn += 1) {
      const direct = await measureFrames({ url: upstream.url, headers: {} }, `/openai${PATH}`)
      // The first turn only warms up.
      if (turn > 0) push(frames, 'direct', direct)
      for (const peer of peers) {
        const measured = await measureFrames(peer)
        if (turn > 0) push(frames, peer.name, measured)
        console.log(`${peer.name}: first ${round(measured.first)} ms, ${measured.errors} errors`)
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

function finish(): void {
  const names = [...runs.keys()]
  const best = names.map((name) => [name, ...LIMITS_MS.map((limit) => bestWithin(name, limit))])
  const middle = (name: string, figure: keyof Frames) =>
    median((frames.get(name) ?? []).map((one) => one[figure]))
  const streams = [...frames.keys()].map((name) => [
    name,
    round(middle(name, 'first')),
    round(middle(name, 'first') - middle('direct', 'first')),
    round(middle(name, 'late') * 100),
    round(middle(name, 'p99')),
    (frames.get(name) ?? []).reduce((sum, one) => sum + one.errors, 0),
  ])
  const memory = [...memories].map(([name, { idle, steady, recovered, growth }]) =>
    [name, ...[idle, steady, recovered, growth].map(Math.round)].map(String),
  )
  const within = LIMITS_MS.map((limit) => `p99 ≤ ${limit} ms`)
  const title = ['100 streams at once', 'first frame ms', 'added', 'late %', 'p99 ms', 'errors']
  report('board', conditions, { rounds, seconds, best, streams, memory, runs: [...runs] }, [
    ...table([['calls a second', ...within], ...best]),
    '',
    ...table([title, ...streams]),
    '',
    ...table([['memory in MB', 'idle', 'steady', 'recovered', 'growth a minute'], ...memory]),
    '',
    `1 KB bodies at ${CONNECTIONS.join(', ')} connections; medians of ${rounds} runs of`,
    `${seconds} s in turns, the server on one core, all else on the other. A frame every 20 ms is`,
    'late 10 ms after the upstream wrote it. Memory is of the server without its database.',
    ...ABSENT,
  ])
}
