/**
 * Measures the memory of an open stream. `node benchmarks/open-streams.ts [--streams 9000]` (as
 * many as the limit of open files allows: each has two sockets in the server).
 */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { readOptions } from '../testbed/options.ts'
import { readMemoryMb } from '../testbed/proc.ts'
import { readConditions, report, round, table } from '../testbed/results.ts'
import { rawRequest } from '../tests/support/raw.ts'
import { type Peer, startBareNode, startTributary, startUpstream } from './peers/start-peers.ts'
import { PATH, requestBody } from './peers/wrk.ts'

const values = readOptions(import.meta.filename, { streams: { type: 'string', default: '9000' } })
const streams = Number(values.streams)
/** Streams pause for this long after their first chunk, so that all are open together. */
const HOLD_MS = 60_000
const BATCH = 100
const WARM_UP = 200
const GOAL_KB = 64

interface Measured {
  readonly peer: string
  readonly emptyMb: number
  readonly fullMb: number
  readonly kilobytesEach: number
  readonly open: number
}

const conditions = readConditions(`npm run bench -- open-streams --streams ${streams}`)
const upstream = await startUpstream(HOLD_MS)
const measured: Measured[] = []
try {
  for (const start of [startBareNode, startTributary]) {
    const peer = await start(upstream.url)
    try {
      measured.push(await measure(peer))
    } finally {
      await peer.stop()
    }
  }
} finally {
  await upstream.stop(2_000)
}
const own = measured.find(({ peer }) => peer.startsWith('Tributary'))
const met = own !== undefined && own.kilobytesEach <= GOAL_KB
report('open-streams', conditions, { streams, measured }, [
  ...table([
    ['', 'open', 'MB before', 'MB with all', 'KB each'],
    ...measured.map(({ peer, open, emptyMb, fullMb, kilobytesEach }) => [
      peer,
      open,
      Math.round(emptyMb),
      Math.round(fullMb),
      round(kilobytesEach),
    ]),
  ]),
  '',
  `goal: ${GOAL_KB} KB each: ${met ? 'met' : 'NOT MET'} (without its database)`,
])

async function measure(peer: Peer): Promise<Measured> {
  const warm = await openStreams(peer, WARM_UP)
  for (const socket of warm) socket.destroy()
  await sleep(2_000)
  const emptyMb = readMemoryMb(peer.pid, peer.databasePid)
  const sockets = await openStreams(peer, streams)
  await sleep(3_000)
  const fullMb = readMemoryMb(peer.pid, peer.databasePid)
  const open = sockets.filter((socket) => !socket.destroyed && socket.bytesRead > 0).length
  for (const socket of sockets) socket.destroy()
  const kilobytesEach = ((fullMb - emptyMb) * 1024) / open
  return { peer: peer.name, emptyMb, fullMb, kilobytesEach, open }
}

/** Opens streams in batches; each is open once its first bytes have arrived. */
async function openStreams(peer: Peer, count: number): Promise<Socket[]> {
  const request = rawRequest(PATH, requestBody(true), peer.headers)
  const sockets: Socket[] = []
  while (sockets.length < count) {
    const size = Math.min(BATCH, count - sockets.length)
    sockets.push(...(await Promise.all(Array.from({ length: size }, () => open(peer, request)))))
  }
  return sockets
}

async function open(peer: Peer, request: string): Promise<Socket> {
  const socket = connect(Number(new URL(peer.url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(request)
  await once(socket, 'data')
  return socket
}
