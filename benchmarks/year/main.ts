/**
 * Measures a year of data: bytes per call, and how long the jobs over it take. Fills a database
 * with calls spread over twelve months that ended 16 days ago, with holds and entries as the ledger
 * posts them: `node benchmarks/year/main.ts [--calls 2000000]`.
 */

import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import type { Sql } from 'postgres'
import { createLog } from '../../server/api/app/log.ts'
import { connect } from '../../server/base/database/connection/client.ts'
import { startEmbedded } from '../../server/base/database/embedded/embedded.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { sealEverything } from '../../server/money/ledger/books/sealer.ts'
import { countEndedCalls } from '../../server/money/usage/rollup-store.ts'
import { archivePeriod } from '../../server/work/archive/archive-period.ts'
import { type ArchivePeriod, monthOf } from '../../server/work/archive/periods.ts'
import { readStated, verifyPeriod } from '../../server/work/archive/verify-archives.ts'
import { createBlobs } from '../../server/work/assets/storage/blobs.ts'
import { createDiskStorage } from '../../server/work/assets/storage/disk-storage.ts'
import { openPlace } from '../../testbed/laboratory.ts'
import { readOptions } from '../../testbed/options.ts'
import { findPostmaster } from '../../testbed/postmaster.ts'
import { readCpuSeconds } from '../../testbed/proc.ts'
import { readConditions, report, round, table } from '../../testbed/results.ts'
import { fillCalls } from './fill-calls.ts'
import { comparePaidPath, type PaidPath } from './paid-path.ts'

const values = readOptions(import.meta.filename, { calls: { type: 'string', default: '2000000' } })
const calls = Number(values.calls)
/** All calls are in weeks that an audit verifies. */
const SPREAD = { calls, days: 365, endedDays: 16 }
const STATEMENT_MS = 1_800_000
/** A month in the middle of the year, which is present as a whole. */
const MONTH_AGE_MS = 180 * 86_400_000
const TABLES = ['call', 'hold', 'entry', 'ledger_block', 'usage_hour', 'usage_part', 'latency_hour']

const conditions = readConditions(`node benchmarks/year/main.ts --calls ${calls}`)
const place = await openPlace('http://127.0.0.1:9')
const times: Record<string, number> = {}
/** Seconds of processors, PostgreSQL's and this process's: other work changes them less. */
const worked: Record<string, number> = {}
let bytes: readonly (readonly [string, number, number])[] = []
const archived = { calls: 0, plain: 0, gzip: 0, zstd: 0 }
let verified = 0
let paid: readonly PaidPath[] = []
let isClean = false
try {
  // The gateway's own connections end statements after seconds.
  const server = await startEmbedded({ dataDir: place.dataDir })
  const sql = connect(server.place, { connections: 1, statementTimeoutMs: STATEMENT_MS })
  // An archive reads its next batch while it removes the last.
  const archiver = connect(server.place, { connections: 2, statementTimeoutMs: STATEMENT_MS })
  try {
    await measure(sql, archiver)
  } finally {
    await Promise.all([sql.end(), archiver.end()])
    await server.stop()
  }
} finally {
  await place.close()
}
finish()

async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const start = performance.now()
  const before = readWorked()
  const found = await work()
  times[name] = round((performance.now() - start) / 1000)
  worked[name] = round(readWorked() - before)
  console.log(`${name}: ${times[name]} s, ${worked[name]} s of processors`)
  return found
}

function readWorked(): number {
  const { user, system } = process.cpuUsage()
  const postmaster = findPostmaster(place.dataDir)
  return (user + system) / 1e6 + (postmaster === undefined ? 0 : readCpuSeconds(postmaster))
}

async function measure(sql: Sql, archiver: Sql): Promise<void> {
  const [key] = place.keys
  if (!key) throw new Error('no key')
  await timed('fill', () => fillCalls(sql, key, SPREAD))
  await timed('vacuum', async () => {
    for (const name of ['call', 'hold', 'entry']) await sql`vacuum analyze ${sql(name)}`
  })
  await timed('seal', () => sealEverything(sql))
  await timed('rollup', async () => {
    for (let more = true; more; ) more = await countEndedCalls(sql, 24 * 3600)
  })
  isClean = await timed('first audit', async () => (await audit(sql)).ok)
  for (const name of ['second audit', 'third audit']) await timed(name, () => auditAgain(sql))
  await timed('full audit', () => auditAgain(sql, true))
  verified = await countVerified(sql)
  bytes = await readBytes(sql)
  const month = monthOf(new Date(Date.now() - MONTH_AGE_MS))
  await timed('write a month as JSONL', () => measurePacking(sql, month))
  const blobs = createBlobs({
    sql: archiver,
    storage: createDiskStorage(join(place.dataDir, 'files')),
    log: createLog({ level: 'silent', format: 'json' }),
  })
  await timed('archive a month', async () => {
    archived.calls = (await archivePeriod(month, { sql: archiver, blobs })).holds
  })
  await timed('vacuum after it', async () => {
    for (const name of ['call', 'hold', 'entry']) await sql`vacuum ${sql(name)}`
  })
  await timed('verify the month', async () => {
    const [stated] = await readStated(sql, month.name)
    if (!stated || (await verifyPeriod(sql, blobs, stated)).problems.length > 0) isClean = false
  })
  await timed('audit after it', () => auditAgain(sql))
  paid = await comparePaidPath({ sql, dataDir: place.dataDir, key })
  await timed('audit after new calls', () => auditAgain(sql))
}

async function auditAgain(sql: Sql, isFull = false): Promise<void> {
  if (!(await audit(sql, { isFull })).ok) isClean = false
}

/** Returns the calls of verified weeks. */
async function countVerified(sql: Sql): Promise<number> {
  const [row] = await sql<{ calls: string }[]>`
    select coalesce(sum(holds), 0)::text as calls from verified_week`
  return Number(row?.calls)
}

async function readBytes(sql: Sql): Promise<(readonly [string, number, number])[]> {
  const rows = await sql<{ name: string; heap: string; indexes: string }[]>`
    select c.relname as name, pg_table_size(c.oid)::text as heap,
      pg_indexes_size(c.oid)::text as indexes
    from pg_class c where c.relname in ${sql(TABLES)} and c.relkind = 'r'`
  return rows.map(({ name, heap, indexes }) => [name, Number(heap), Number(indexes)] as const)
}

/** Compresses the lines of one month, the former format of archives, in two ways. */
async function measurePacking(sql: Sql, month: ArchivePeriod): Promise<void> {
  // A cursor outside of a transaction would keep the only connection.
  await sql.begin(async (view) => {
    const lines = view<{ line: string }[]>`
      select line from archive_lines(${month.afterId}, ${month.endId}, null)`
    for await (const rows of lines.cursor(5_000)) {
      const text = rows.map(({ line }) => `${line}\n`).join('')
      archived.plain += text.length
      archived.gzip += gzipSync(text).length
      archived.zstd += zstdCompressSync(text).length
    }
  })
}

function finish(): void {
  const perCall = (size: number) => round(size / calls)
  const perArchived = (size: number) => round(size / Math.max(1, archived.calls))
  const sum = bytes.reduce((all, [, heap, indexes]) => all + heap + indexes, 0)
  const kept = ((times['third audit'] ?? 0) * 1e6) / Math.max(1, verified)
  const [each, ofProcessors] = [times, worked].map((all) =>
    round(perArchived((all['archive a month'] ?? 0) * 1e6)),
  )
  report('year', conditions, { calls, times, worked, bytes, archived, paid, verified, isClean }, [
    ...table([
      ['bytes per call', 'table', 'indexes'],
      ...bytes.map(([name, heap, indexes]) => [name, perCall(heap), perCall(indexes)]),
      ['all of it', perCall(sum), ''],
    ]),
    '',
    ...table([
      ['', 'seconds', 'of processors'],
      ...Object.entries(times).map(([name, seconds]) => [name, seconds, worked[name] ?? '']),
    ]),
    '',
    `${verified} calls are in verified weeks; the third audit takes ${round(kept)} µs for each.`,
    `The month has ${archived.calls} calls, archived in ${each} µs each,`,
    `${ofProcessors} µs of processors; bytes for each:`,
    `${perArchived(archived.plain)} as JSONL, ${perArchived(archived.gzip)} by gzip, ` +
      `${perArchived(archived.zstd)} by zstd.`,
    '',
    ...table([
      ['pairs in a batch', 'empty, µs', 'a year, µs', 'ratio'],
      ...paid.map(({ size, empty, filled, ratio }) => [
        size,
        Math.round(empty),
        Math.round(filled),
        round(ratio),
      ]),
    ]),
    '',
    `audit ${isClean ? 'clean' : 'NOT CLEAN'}`,
  ])
}
