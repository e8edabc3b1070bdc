/**
 * Measures short calls while many streams open, and while those are open. `node
 * benchmarks/stream-storm.ts [--streams 3000] [--seconds 10] [--rate 150]`: --seconds is the time
 * in which the streams open, --rate the short calls a second.
 */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { readOptions } from '../testbed/options.ts'
import { pinTree, readMemoryMb } from '../testbed/proc.ts'
import { readConditions, report, round, table } from '../testbed/results.ts'
import { rawRequest } from '../tests/support/raw.ts'
import { type Paced, paceCalls } from './peers/pace-calls.ts'
import {
  OTHER_CORE,
  type Peer,
  startBareNode,
  startTributary,
  startUpstream,
} from './peers/start-peers.ts'
import { PATH, requestBody } from './peers/wrk.ts'

const values = readOptions(import.meta.filename, {
  streams: { type: 'string', default: '3000' },
  seconds: { type: 'string', default: '10' },
  rate: { type: 'string', default: '150' },
})
const streams = Number(values.streams)
const seconds = Number(values.seconds)
const perSecond = Number(values.rate)
/** A stream pauses for this long after its first chunk. */
const HOLD_MS = 90_000
const GOAL = 3

interface Phase extends Paced {
  readonly peer: string
  readonly phase: string
  readonly open: number
  readonly megabytes: number
}

const conditions = readConditions(
  `npm run bench -- stream-storm --streams ${streams} --seconds ${seconds} --rate ${perSecond}`,
)
const phases: Phase[] = []
pinTree(process.pid, OTHER_CORE)
for (const start of [startBareNode, startTributary]) {
  const upstream = await startUpstream(HOLD_MS)
  const peer = await start(upstream.url)
  try {
    await measure(peer)
  } finally {
    await peer.stop()
    await upstream.stop(2_000)
  }
}
finish()

async function measure(peer: Peer): Promise<void> {
  const target = { ...peer, path: PATH }
  const sockets: Socket[] = []
  const during = async (phase: string) => {
    const paced = await paceCalls(target, { perSecond, seconds })
    const open = sockets.filter((socket) => !socket.destroyed && socket.bytesRead > 0).length
    const megabytes = readMemoryMb(peer.pid, peer.databasePid)
    phases.push({ peer: peer.name, phase, ...paced, open, megabytes })
    console.log(`${peer.name}, ${phase}: p50 ${round(paced.p50)} ms, p99 ${round(paced.p99)} ms`)
  }
  await paceCalls(target, { perSecond, seconds: 5 })
  await during('idle')
  await Promise.all([during('streams open'), openStreams(peer, sockets)])
  await during('streams are open')
  await during('streams are open, later')
  for (const socket of sockets) socket.destroy()
  await sleep(2_000)
}

/** Opens the streams one after the other at an even pace. */
async function openStreams(peer: Peer, sockets: Socket[]): Promise<void> {
  const request = rawRequest(PATH, requestBody(true), peer.headers)
  const start = performance.now()
  const opening: Promise<unknown>[] = []
  while (sockets.length < streams) {
    const due = Math.min(streams, ((performance.now() - start) * streams) / (seconds * 1_000))
    while (sockets.length < due) {
      const socket = connect(Number(new URL(peer.url).port), '127.0.0.1')
      socket.on('error', () => undefined)
      socket.write(request)
      sockets.push(socket)
      opening.push(once(socket, 'data').catch(() => undefined))
    }
    await sleep(5)
  }
  await Promise.all(opening)
}

function finish(): void {
  const rows = phases.map((one) => [
    one.peer,
    one.phase,
    String(one.open),
    round(one.p50),
    `${round(one.p50 / idleOf(one.peer))}×`,
    round(one.p99),
    String(one.errors),
    String(Math.round(one.megabytes)),
  ])
  const heads = ['', 'phase', 'streams', 'p50 ms', 'of idle', 'p99 ms', 'errors', 'MB']
  const [, storm] = phases.filter(({ peer }) => peer.startsWith('Tributary'))
  const met = storm !== undefined && storm.p50 <= GOAL * idleOf(storm.peer)
  report('stream-storm', conditions, phases, [
    ...table([heads, ...rows]),
    '',
    `${perSecond} short calls a second, beside ${streams} streams that open within ${seconds} s.`,
    `Goal: p50 at most ${GOAL} times the idle one while streams open: ${met ? 'met' : 'NOT MET'}.`,
  ])
}

function idleOf(peer: string): number {
  return phases.find((one) => one.peer === peer)?.p50 ?? Number.NaN
}
