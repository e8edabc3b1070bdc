/**
 * Measures the holds and settlements per second that the ledger commits durably, on one busy
 * account and over a thousand. `node benchmarks/ledger.ts [--rounds 5] [--seconds 4]`.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { isUnavailable } from '../server/base/database/unavailable.ts'
import { newId, newRequestId } from '../server/base/lib/ids.ts'
import { audit } from '../server/money/ledger/audit/audit.ts'
import { createLedger, type Ledger } from '../server/money/ledger/ledger.ts'
import { openPlace } from '../testbed/laboratory.ts'
import { readOptions } from '../testbed/options.ts'
import { findPostmaster } from '../testbed/postmaster.ts'
import { pinTree, readCpuSeconds } from '../testbed/proc.ts'
import { median, quantile, readConditions, report, round, table } from '../testbed/results.ts'
import { OTHER_CORE, SERVER_CORE } from './peers/start-peers.ts'

const values = readOptions(import.meta.filename, {
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '4' },
  concurrency: { type: 'string', default: '512' },
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
const concurrency = Number(values.concurrency)
const ACCOUNTS = 1_000
const GOAL_PAIRS = 10_000
const GOAL_P99_MS = 10

const LINES = [
  { unit: 'input_token', quantity: 12, unit_price: '0.15', per: 1_000_000, amount: '0.0000018' },
  { unit: 'output_token', quantity: 34, unit_price: '0.6', per: 1_000_000, amount: '0.0000204' },
]
const ATTEMPTS = [{ channel: 'main', upstream_model: 'chat', outcome: 'answered', milliseconds: 9 }]

interface Caller {
  readonly accountId: string
  readonly keyId: string
}

interface Round {
  readonly pairsPerSecond: number
  /** Processor time of a pair, which hardly depends on other load of the machine. */
  readonly ownMicroseconds: number
  readonly databaseMicroseconds: number
  readonly halfLoadP99Ms: number
}

const conditions = readConditions(`npm run bench -- ledger --rounds ${rounds} --seconds ${seconds}`)
const place = await openPlace('http://127.0.0.1:9', { accounts: ACCOUNTS, keys: ACCOUNTS })
const callers = place.keys.map((key) => ({ accountId: key.account_id, keyId: key.id }))
const hot: Round[] = []
const spread: Round[] = []
let audited = false
try {
  await place.withDatabase(async (sql) => {
    const pid = findPostmaster(place.dataDir)
    if (pid === undefined) throw new Error('no database')
    pinTree(process.pid, SERVER_CORE)
    pinTree(pid, OTHER_CORE)
    for (let turn = 0; turn < rounds; turn += 1) {
      hot.push(await runRound(sql, pid, callers.slice(0, 1)))
      spread.push(await runRound(sql, pid, callers))
      console.log(`round ${turn + 1}`, hot.at(-1), spread.at(-1))
    }
    audited = (await audit(sql)).ok
  })
} finally {
  await place.close()
}
finish()

async function runRound(sql: Sql, pid: number, callers: readonly Caller[]): Promise<Round> {
  const ledger = createLedger({ sql, ownerId: newId('own'), isUnavailable, log: console })
  const before = { own: process.cpuUsage(), database: readCpuSeconds(pid), at: performance.now() }
  const pairsPerSecond = await runFlatOut(ledger, callers)
  const pairs = (pairsPerSecond * (performance.now() - before.at)) / 1_000
  const own = process.cpuUsage(before.own)
  const databaseMicroseconds = ((readCpuSeconds(pid) - before.database) * 1e6) / pairs
  const halfLoadP99Ms = await runAtRate(ledger, callers, pairsPerSecond / 2)
  await ledger.stop()
  return {
    pairsPerSecond: Math.round(pairsPerSecond),
    ownMicroseconds: Math.round((own.user + own.system) / pairs),
    databaseMicroseconds: Math.round(databaseMicroseconds),
    halfLoadP99Ms: round(halfLoadP99Ms),
  }
}

async function runFlatOut(ledger: Ledger, callers: readonly Caller[]): Promise<number> {
  let pairs = 0
  const start = performance.now()
  const work = async (from: number) => {
    for (let turn = from; performance.now() - start < seconds * 1_000; turn += concurrency) {
      await runPair(ledger, callers, turn)
      pairs += 1
    }
  }
  await Promise.all(Array.from({ length: concurrency }, (_, index) => work(index)))
  return (pairs * 1_000) / (performance.now() - start)
}

/** Starts pairs at a fixed rate, however long they take. Returns the p99 of the holds. */
async function runAtRate(ledger: Ledger, callers: readonly Caller[], rate: number) {
  const times: number[] = []
  const open: Promise<void>[] = []
  const start = performance.now()
  for (let started = 0; performance.now() - start < seconds * 1_000; ) {
    const due = ((performance.now() - start) * rate) / 1_000
    for (; started < due; started += 1) {
      open.push(runPair(ledger, callers, started).then((holdMs) => void times.push(holdMs)))
    }
    await sleep(1)
  }
  await Promise.all(open)
  return quantile(times, 0.99)
}

/** Returns the duration of the hold, in milliseconds. */
async function runPair(ledger: Ledger, callers: readonly Caller[], turn: number): Promise<number> {
  const caller = callers[turn % callers.length]
  if (!caller) throw new Error('no callers')
  const start = performance.now()
  const result = await ledger.hold({
    ...caller,
    requestId: newRequestId(),
    endpoint: 'chat.completions',
    model: 'sim-chat',
    priceVersion: 1n,
    amountNanos: 2_458_350n,
    estimate: { input_token: 12, output_token: 4096 },
    spendLimitNanos: null,
    idempotency: null,
  })
  const holdMs = performance.now() - start
  if (!('hold' in result)) throw new Error(`refused: ${result.refused}`)
  await ledger.settle(result.hold, {
    chargeNanos: 22_200n,
    status: 'succeeded',
    basis: 'usage',
    lines: LINES,
    attempts: ATTEMPTS,
  })
  return holdMs
}

function finish(): void {
  const rows = [
    { name: 'one account', samples: hot },
    { name: `${ACCOUNTS} accounts`, samples: spread },
  ].map(({ name, samples }) => {
    const pairs = median(samples.map((one) => one.pairsPerSecond))
    const p99 = median(samples.map((one) => one.halfLoadP99Ms))
    return [
      name,
      pairs,
      pairs >= GOAL_PAIRS ? 'met' : 'NOT MET',
      p99,
      p99 <= GOAL_P99_MS ? 'met' : 'NOT MET',
      median(samples.map((one) => one.ownMicroseconds)),
      median(samples.map((one) => one.databaseMicroseconds)),
    ]
  })
  const goals = ['pairs/s', `goal ${GOAL_PAIRS}`, 'p99 hold ms', `goal ${GOAL_P99_MS}`]
  const title = ['', ...goals, 'µs of CPU', 'database µs']
  report('ledger', conditions, { rounds, seconds, concurrency, hot, spread, audited }, [
    ...table([title, ...rows]),
    '',
    `${concurrency} calls at once; the p99 at half that rate. The ledger's process on one core,`,
    `PostgreSQL on the other, fsync on. Medians of ${rounds} rounds of ${seconds} s.`,
    'CPU is user and system time of a pair: it hardly depends on what else the machine does.',
    `audit ${audited ? 'clean' : 'NOT CLEAN'}`,
  ])
}
