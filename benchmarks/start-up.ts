/**
 * Measures the time until the gateway is ready, on an empty folder and on a used one, its idle
 * memory, and the slowest call of the first second after a start. `node benchmarks/start-up.ts
 * [--rounds 5]`.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openPlace } from '../testbed/laboratory.ts'
import { readOptions } from '../testbed/options.ts'
import { findPostmaster } from '../testbed/postmaster.ts'
import { readMemoryMb } from '../testbed/proc.ts'
import { median, readConditions, report, round } from '../testbed/results.ts'
import { startGateway } from '../tests/support/gateway.ts'
import { callForASecond, type FirstCall } from './peers/first-second.ts'
import { startUpstream } from './peers/start-peers.ts'
import { PATH } from './peers/wrk.ts'

const values = readOptions(import.meta.filename, { rounds: { type: 'string', default: '5' } })
const rounds = Number(values.rounds)
const GOAL = { warmMs: 1_000, idleMb: 200, slowestMs: 50 }
/** Without the gateway, so that the code of the load is compiled before it measures. */
const LOAD_RUNS = 3
const IDLE_MS = 3_000

const conditions = readConditions(`npm run bench -- start-up --rounds ${rounds}`)
const coldMs: number[] = []
const warmMs: number[] = []
const gatewayMb: number[] = []
const databaseMb: number[] = []
for (let turn = 0; turn < rounds; turn += 1) coldMs.push(await startCold())
const upstream = await startUpstream()
const place = await openPlace(upstream.url)
const slowest: FirstCall[] = []
try {
  const direct = { name: 'direct', url: upstream.url, headers: {}, path: `/openai${PATH}` }
  for (let run = 0; run < LOAD_RUNS; run += 1) await callForASecond(direct)
  for (let turn = 0; turn < rounds; turn += 1) slowest.push(await startAndCall())
  for (let turn = 0; turn < rounds; turn += 1) {
    const gateway = await place.startGateway()
    warmMs.push(gateway.readyMs)
    await sleep(IDLE_MS)
    const database = findPostmaster(place.dataDir) ?? 0
    gatewayMb.push(readMemoryMb(gateway.pid, database))
    databaseMb.push(readMemoryMb(database))
    await gateway.stop()
  }
} finally {
  await place.close()
  await upstream.stop(2_000)
}
const slowestMs = Math.max(...slowest.map(({ ms }) => ms))
const warm = Math.round(median(warmMs))
const idle = Math.round(median(gatewayMb) + median(databaseMb))
report('start-up', conditions, { rounds, coldMs, warmMs, gatewayMb, databaseMb, slowest }, [
  `cold start, with a new database, demo catalog and simulators: ${Math.round(median(coldMs))} ms`,
  `warm start: ${warm} ms, goal ${GOAL.warmMs} ms: ${warm <= GOAL.warmMs ? 'met' : 'NOT MET'}`,
  `idle: gateway ${Math.round(median(gatewayMb))} MB + PostgreSQL ` +
    `${Math.round(median(databaseMb))} MB, goal ${GOAL.idleMb} MB together: ` +
    `${idle <= GOAL.idleMb ? 'met' : 'NOT MET'}`,
  `slowest call of the first second: ${round(slowestMs)} ms in ${rounds} starts (each: ` +
    `${slowest.map(({ ms }) => round(ms)).join(', ')}), goal ${GOAL.slowestMs} ms: ` +
    `${slowestMs <= GOAL.slowestMs ? 'met' : 'NOT MET'}`,
  `Medians of ${rounds}, from the start of the process to the first good /readyz.`,
])

/** Calls from the first good /readyz on, at 100 a second. Returns the slowest call. */
async function startAndCall(): Promise<FirstCall> {
  const gateway = await place.startGateway()
  const headers = { authorization: `Bearer ${place.keys[0]?.key}` }
  const calls = await callForASecond({ name: 'gateway', url: gateway.url, headers, path: PATH })
  await gateway.stop()
  return calls.reduce((most, call) => (call.ms > most.ms ? call : most))
}

/** On an empty folder the gateway also starts its demo, as after `npm start`. */
async function startCold(): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tributary-proof-'))
  try {
    const gateway = await startGateway({ dataDir })
    await gateway.stop()
    return gateway.readyMs
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
