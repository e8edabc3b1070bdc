/**
 * Measures many concurrent interpretations of one recording: the gateway's memory for each, its
 * event loop delay, and the delay of speech to the caller. `npm run bench -- interpretations
 * [--calls 200] [--seconds 60]`
 */

import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSecretBox } from '../server/base/lib/secrets/secrets.ts'
import { applyCatalog } from '../server/money/catalog/apply/apply.ts'
import { parseCatalogFile } from '../server/money/catalog/apply/file.ts'
import { audit } from '../server/money/ledger/audit/audit.ts'
import { UPSTREAMS } from '../server/wire/upstreams/index.ts'
import { openPlace } from '../testbed/laboratory.ts'
import { openLiveMemory } from '../testbed/live-memory.ts'
import { readOptions } from '../testbed/options.ts'
import { quantile, readConditions, report, round, table } from '../testbed/results.ts'
import { startAstVendor } from '../tests/support/ast-vendor.ts'
import { findFreePort } from '../tests/support/free-port.ts'
import { astCatalog, MODEL, ROUTE } from '../tests/support/interpretation.ts'
import { makeWav } from '../tests/support/wav.ts'
import { measureBareSockets } from './peers/bare-memory.ts'

const values = readOptions(import.meta.filename, {
  calls: { type: 'string', default: '200' },
  seconds: { type: 'string', default: '60' },
})
const calls = Number(values.calls)
const seconds = Number(values.seconds)
const WARM_UP_SECONDS = 4
/** Callers start one after another; all are connected when memory is read, in the middle. */
const BETWEEN_MS = 100
const SETTLE_MS = 4_000
const SECRET_KEY = 'a-secret-key-of-tests-which-is-long-enough'
const GOALS = { kilobytesEach: 64, loopMs: 50, firstByteMs: 20 }

interface ReceivedSpeech {
  readonly voice: string
  readonly firstAt: number
  readonly bytes: number
  readonly isWhole: boolean
}

const command = `npm run bench -- interpretations --calls ${calls} --seconds ${seconds}`
const conditions = readConditions(command)
const vendor = await startAstVendor({ forgetful: true, speechBytes: 8_000 })
const place = await openPlace(vendor.url)
await place.withDatabase((sql) =>
  applyCatalog({
    sql,
    environment: {},
    upstreams: Object.fromEntries(UPSTREAMS),
    files: [parseCatalogFile('ast.json', JSON.stringify(astCatalog(vendor.url, 80)), {})],
    secrets: createSecretBox([SECRET_KEY]),
  }),
)
const metricsPort = await findFreePort()
const memory = openLiveMemory()
const gateway = await place.startGateway({
  METRICS_PORT: String(metricsPort),
  ...memory.environment,
})
try {
  await measure()
} finally {
  await gateway.stop()
  await place.close()
  await vendor.stop()
  memory.close()
}

async function measure(): Promise<void> {
  await Promise.all(start('warm', calls, WARM_UP_SECONDS))
  await sleep(SETTLE_MS)
  const empty = await readMemory()
  await readLoopMs()
  const began = performance.now()
  const running = start('call', calls, seconds)
  await sleep((seconds * 1000) / 2)
  const earlyMs = await readLoopMs()
  const full = await readMemory()
  // The collections delay the loop themselves: resets the measurement.
  await readLoopMs()
  const open = vendor.sessions.filter(({ isClosed }) => !isClosed).length
  const received = await Promise.all(running)
  const lateLoopMs = await readLoopMs()
  const lateMs = received.map(({ voice, firstAt }) => firstAt - spokeAt(voice))
  const each = (more: number) => (more * 1024) / Math.max(open, 1)
  const lastedSeconds = (performance.now() - began) / 1000
  const socketUrl = `${vendor.url.replace('http', 'ws')}/api/v4/ast/v2/translate`
  const socketsEach = await measureBareSockets(socketUrl, calls)
  const { checks } = await place.withDatabase((sql) => audit(sql))
  reportResults({
    open,
    empty,
    full,
    lastedSeconds,
    whole: received.filter(({ isWhole }) => isWhole).length,
    liveEach: each(full.liveMb - empty.liveMb),
    socketsEach,
    residentEach: each(full.residentMb - empty.residentMb),
    loopMs: Math.max(earlyMs, lateLoopMs),
    firstByteMs: { p50: quantile(lateMs, 0.5), p99: quantile(lateMs, 0.99) },
    booksAgree: checks.every(({ ok }) => ok),
  })
}

interface Figures {
  readonly open: number
  readonly whole: number
  readonly empty: Memory
  readonly full: Memory
  readonly liveEach: number
  /** The same for a server with nothing but the sockets. */
  readonly socketsEach: number
  readonly residentEach: number
  readonly loopMs: number
  readonly firstByteMs: { readonly p50: number; readonly p99: number }
  readonly lastedSeconds: number
  readonly booksAgree: boolean
}

function reportResults(figures: Figures): void {
  const { open, whole, liveEach, socketsEach, loopMs, firstByteMs, booksAgree } = figures
  const isMet =
    whole === calls &&
    booksAgree &&
    liveEach - socketsEach <= GOALS.kilobytesEach &&
    loopMs <= GOALS.loopMs &&
    firstByteMs.p99 <= GOALS.firstByteMs
  report('interpretations', conditions, { calls, seconds, ...figures }, [
    ...table([
      ['', 'measured', 'goal'],
      ['open at the same time', open, calls],
      ['with a clean end', whole, calls],
      ['KB of live memory each', round(liveEach), ''],
      ['… of which sockets in a bare server', round(socketsEach), ''],
      ['… and beyond the sockets', round(liveEach - socketsEach), GOALS.kilobytesEach],
      ['KB of resident memory each', round(figures.residentEach), ''],
      ['ms that the event loop waits, p99', round(loopMs), GOALS.loopMs],
      ['ms from the vendor’s first speech to the caller, p50', round(firstByteMs.p50), ''],
      ['ms from there to the caller, p99', round(firstByteMs.p99), GOALS.firstByteMs],
      ['seconds until the last had ended', round(figures.lastedSeconds), ''],
      ['books that agree', booksAgree ? 'all' : 'NOT ALL', 'all'],
    ]),
    '',
    `goals: ${isMet ? 'met' : 'NOT MET'}. Vendor and callers share one process, and so a clock.`,
    `A caller comes each ${BETWEEN_MS} ms, with an upload of ${seconds} s of audio.`,
    'Live memory is heap and buffers: the least of six collections, read right after each, in the',
    'middle of the run. Resident memory is what the system sees.',
  ])
  if (!isMet) process.exitCode = 1
}

/** Starts calls whose speech identifies them. */
function start(name: string, count: number, lengthSeconds: number): Promise<ReceivedSpeech>[] {
  const wav = makeWav(lengthSeconds * 1000)
  const key = place.keys[0]?.key ?? ''
  return Array.from({ length: count }, async (_, index) => {
    await sleep(index * BETWEEN_MS)
    return ask(key, wav, `${name}-${index}`)
  })
}

/** Makes one call; resolves when its speech has ended or was cut. */
function ask(key: string, wav: Buffer, voice: string): Promise<ReceivedSpeech> {
  const boundary = 'boundary-of-a-benchmark'
  const fields = { model: MODEL, mode: 's2s', source_language: 'zh', target_language: 'en', voice }
  const part = (head: string) => `--${boundary}\r\ncontent-disposition: form-data; ${head}`
  const before = Object.entries(fields)
    .map(([name, value]) => `${part(`name="${name}"`)}\r\n\r\n${value}\r\n`)
    .join('')
  const file = `${part('name="file"; filename="a.wav"')}\r\ncontent-type: audio/wav\r\n\r\n`
  const after = `\r\n--${boundary}--\r\n`
  return new Promise((resolve, reject) => {
    const call = request(gateway.url + ROUTE, {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': `multipart/form-data; boundary=${boundary}`,
        'content-length': Buffer.byteLength(before + file + after) + wav.length,
      },
    })
    call.on('error', reject)
    call.on('response', (answer) => {
      let firstAt = 0
      let bytes = 0
      answer.on('data', (chunk: Buffer) => {
        if (bytes === 0) firstAt = performance.now()
        bytes += chunk.length
      })
      answer.on('error', () => undefined)
      answer.on('close', () => {
        const isWhole = answer.statusCode === 200 && answer.complete
        resolve({ voice, firstAt, bytes, isWhole })
      })
    })
    call.write(before + file)
    call.write(wav)
    call.end(after)
  })
}

function spokeAt(voice: string): number {
  return vendor.sessions.find(({ order }) => order[3] === voice)?.spokeAt ?? 0
}

interface Memory {
  readonly liveMb: number
  readonly residentMb: number
}

/** Reads the memory of the gateway's own process, without its database. */
async function readMemory(): Promise<Memory> {
  const liveMb = (await memory.read(gateway)) / 1024 ** 2
  const rollup = readFileSync(`/proc/${gateway.pid}/smaps_rollup`, 'utf8')
  return { liveMb, residentMb: Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024 }
}

/** Returns the 99th percentile of the event loop delay since the last reading. */
async function readLoopMs(): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`)
  const found = /^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(await answer.text())?.[1]
  return Number(found) * 1000
}
