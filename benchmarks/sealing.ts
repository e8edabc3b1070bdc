/**
 * Measures the cost of sealing the books. Pairs of hold and settlement without and with the sealer,
 * in turns, until everything is sealed: `node benchmarks/sealing.ts [--rounds 3] [--seconds 3]`.
 */

import type { Sql } from 'postgres'
import { isUnavailable } from '../server/base/database/unavailable.ts'
import { newId, newRequestId } from '../server/base/lib/ids.ts'
import { audit } from '../server/money/ledger/audit/audit.ts'
import { sealEverything, startSealer } from '../server/money/ledger/books/sealer.ts'
import { createLedger, type Ledger } from '../server/money/ledger/ledger.ts'
import { openPlace } from '../testbed/laboratory.ts'
import { readOptions } from '../testbed/options.ts'
import { findPostmaster } from '../testbed/postmaster.ts'
import { readCpuSeconds } from '../testbed/proc.ts'
import { median, readConditions, report, round, table } from '../testbed/results.ts'

const values = readOptions(import.meta.filename, {
  rounds: { type: 'string', default: '3' },
  seconds: { type: 'string', default: '3' },
  concurrency: { type: 'string', default: '512' },
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
const concurrency = Number(values.concurrency)
/** Gateway and database for a whole call of 1 KB, from results/throughput.txt. */
const CALL_MICROSECONDS = 287 + 169

interface Round {
  readonly sealing: boolean
  readonly pairsPerSecond: number
  readonly ownMicroseconds: number
  readonly databaseMicroseconds: number
}

const conditions = readConditions(
  `npm run bench -- sealing --rounds ${rounds} --seconds ${seconds}`,
)
const place = await openPlace('http://127.0.0.1:9')
const found: Round[] = []
let audited = false
let perEntry = 0
try {
  await place.withDatabase(async (sql) => {
    const pid = findPostmaster(place.dataDir)
    const [key] = place.keys
    if (pid === undefined || !key) throw new Error('no database')
    const caller = { accountId: key.account_id, keyId: key.id }
    // The first round warms everything up.
    for (let turn = 0; turn <= rounds; turn += 1) {
      for (const sealing of [false, true]) {
        const one = await runRound(sql, pid, caller, sealing)
        if (!sealing) perEntry = await sealRest(sql, pid)
        console.log(one, { microsecondsPerEntry: perEntry })
        if (turn > 0) found.push(one)
      }
    }
    audited = (await audit(sql)).ok
  })
} finally {
  await place.close()
}
finish()

/** Seals the rows of the rounds without a sealer; returns PostgreSQL's processor time per entry. */
async function sealRest(sql: Sql, pid: number): Promise<number> {
  const [before] = await sql`select coalesce(max(entries_total), 0)::int as n from ledger_block`
  const cpu = readCpuSeconds(pid)
  await sealEverything(sql)
  const [after] = await sql`select coalesce(max(entries_total), 0)::int as n from ledger_block`
  return round(((readCpuSeconds(pid) - cpu) * 1e6) / Math.max(1, after?.n - before?.n))
}

async function runRound(
  sql: Sql,
  pid: number,
  caller: { readonly accountId: string; readonly keyId: string },
  sealing: boolean,
): Promise<Round> {
  const ledger = createLedger({ sql, ownerId: newId('own'), isUnavailable, log: console })
  const before = { own: process.cpuUsage(), database: readCpuSeconds(pid) }
  const sealer = sealing ? startSealer({ sql, log: console }) : undefined
  const start = performance.now()
  let pairs = 0
  const work = async () => {
    while (performance.now() - start < seconds * 1_000) {
      await runPair(ledger, caller)
      pairs += 1
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  const elapsedMs = performance.now() - start
  await sealer?.stop()
  if (sealing) await sealEverything(sql)
  const own = process.cpuUsage(before.own)
  const database = readCpuSeconds(pid) - before.database
  await ledger.stop()
  return {
    sealing,
    pairsPerSecond: Math.round((pairs * 1_000) / elapsedMs),
    ownMicroseconds: round((own.user + own.system) / pairs),
    databaseMicroseconds: round((database * 1e6) / pairs),
  }
}

async function runPair(
  ledger: Ledger,
  caller: { readonly accountId: string; readonly keyId: string },
): Promise<void> {
  const result = await ledger.hold({
    ...caller,
    requestId: newRequestId(),
    endpoint: 'chat.completions',
    model: 'sim-chat',
    priceVersion: 1n,
    amountNanos: 2_458_350n,
    estimate: {},
    spendLimitNanos: null,
    idempotency: null,
  })
  if (!('hold' in result)) throw new Error(`refused: ${result.refused}`)
  await ledger.settle(result.hold, {
    chargeNanos: 22_200n,
    status: 'succeeded',
    basis: 'usage',
    lines: [],
    attempts: [],
  })
}

function finish(): void {
  const middle = (sealing: boolean, name: keyof Omit<Round, 'sealing'>) =>
    median(found.filter((one) => one.sealing === sealing).map((one) => one[name]))
  const sum = (sealing: boolean) =>
    middle(sealing, 'ownMicroseconds') + middle(sealing, 'databaseMicroseconds')
  const rows = [false, true].map((sealing) => [
    sealing ? 'with the sealer' : 'without',
    middle(sealing, 'pairsPerSecond'),
    middle(sealing, 'ownMicroseconds'),
    middle(sealing, 'databaseMicroseconds'),
  ])
  const more = round(sum(true) - sum(false))
  const share = round((more / CALL_MICROSECONDS) * 100)
  report(
    'sealing',
    conditions,
    { rounds, seconds, concurrency, found, perEntry, more, share, audited },
    [
      ...table([['', 'pairs/s', 'µs of CPU', 'database µs'], ...rows]),
      '',
      `Sealing takes ${more} µs of CPU more for a pair, which is three entries: ${share} % of the`,
      `${CALL_MICROSECONDS} µs that gateway and database take for a whole call (throughput.txt).`,
      `Catching up alone takes ${perEntry} µs of PostgreSQL for an entry.`,
      `${concurrency} calls at once on one account; medians of ${rounds} rounds of ${seconds} s in`,
      'turns; the time in which everything is sealed at the end counts as well.',
      `audit ${audited ? 'clean' : 'NOT CLEAN'}`,
    ],
  )
}
