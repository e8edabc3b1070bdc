/**
 * Measures what a second worker process costs a call and brings, in turns with one process: `npm
 * run bench -- workers [--rounds 5] [--seconds 4]`. Nothing is pinned but the load.
 */

import { openPlace } from '../../testbed/laboratory.ts'
import { readOptions } from '../../testbed/options.ts'
import { findPostmaster } from '../../testbed/postmaster.ts'
import { median, readConditions, report, round, table } from '../../testbed/results.ts'
import { type CallCosts, measureCalls } from '../peers/measure-calls.ts'
import { type Peer, startUpstream } from '../peers/start-peers.ts'

const values = readOptions(import.meta.filename, {
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '4' },
  connections: { type: 'string', default: '64' },
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
const connections = Number(values.connections)

async function start(upstreamUrl: string, workers: number): Promise<Peer> {
  const place = await openPlace(upstreamUrl)
  const gateway = await place.startGateway({ WORKERS: String(workers) })
  const databasePid = findPostmaster(place.dataDir)
  if (databasePid === undefined) throw new Error('no database')
  return {
    name: `${workers} worker${workers === 1 ? '' : 's'}`,
    url: gateway.url,
    headers: { authorization: `Bearer ${place.keys[0]?.key}` },
    pid: gateway.pid,
    databasePid,
    async stop() {
      await gateway.stop()
      await place.close()
    },
  }
}

const measure = (peer: Peer, duration: number) =>
  measureCalls(peer, { stream: false, connections, seconds: duration })

const conditions = readConditions(
  `npm run bench -- workers --rounds ${rounds} --seconds ${seconds} --connections ${connections}`,
)
const upstream = await startUpstream()
const peers = [await start(upstream.url, 1), await start(upstream.url, 2)]
const measured = new Map<string, CallCosts[]>(peers.map(({ name }) => [name, []]))
try {
  for (const peer of peers) await measure(peer, 2)
  for (let turn = 0; turn < rounds; turn += 1) {
    for (const peer of peers) measured.get(peer.name)?.push(await measure(peer, seconds))
  }
} finally {
  await Promise.all(peers.map((peer) => peer.stop()))
  await upstream.stop(2_000)
}
const rows = [...measured].map(([name, runs]) => ({
  name,
  perSecond: median(runs.map((run) => run.perSecond)),
  own: median(runs.map((run) => run.gatewayMicroseconds)),
  database: median(runs.map((run) => run.databaseMicroseconds)),
  errors: runs.reduce((sum, run) => sum + run.errors, 0),
}))
report('workers', conditions, { rounds, seconds, connections, rows }, [
  ...table([
    ['1 KB bodies', 'calls/s', 'µs of CPU', 'database µs', 'errors'],
    ...rows.map(({ name, perSecond, own, database, errors }) => [
      name,
      Math.round(perSecond),
      Math.round(own),
      Math.round(database),
      errors,
    ]),
  ]),
  '',
  `two workers: ${round((rows[1]?.own ?? 0) / (rows[0]?.own ?? 1))}× the CPU of a call`,
  `in turns, medians of ${rounds} runs of ${seconds} s, ${connections} connections; load, upstream`,
  'and database share the same cores',
])
