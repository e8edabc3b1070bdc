/**
 * Measures what archiving a call costs, in turns with another checkout: each archives every other
 * week of the same database: `npm run bench:archiving -- --before FOLDER [--calls 100000]`.
 */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Sql } from 'postgres'
import { createLog } from '../../server/api/app/log.ts'
import { connect } from '../../server/base/database/connection/client.ts'
import { startEmbedded } from '../../server/base/database/embedded/embedded.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { sealEverything } from '../../server/money/ledger/books/sealer.ts'
import { countEndedCalls } from '../../server/money/usage/rollup-store.ts'
import { type archivePeriod, listPeriods } from '../../server/work/archive/archive-period.ts'
import { createBlobs } from '../../server/work/assets/storage/blobs.ts'
import { createDiskStorage } from '../../server/work/assets/storage/disk-storage.ts'
import { openPlace } from '../../testbed/laboratory.ts'
import { readOptions } from '../../testbed/options.ts'
import { findPostmaster } from '../../testbed/postmaster.ts'
import { readCpuSeconds } from '../../testbed/proc.ts'
import { median, readConditions, report, round, table } from '../../testbed/results.ts'
import { fillCalls } from './fill-calls.ts'

const values = readOptions(import.meta.filename, {
  before: { type: 'string', default: '.' },
  label: { type: 'string', default: 'before' },
  calls: { type: 'string', default: '100000' },
})
const calls = Number(values.calls)
const STATEMENT_MS = 1_800_000
/** The first and the last week are incomplete. */
const DAYS = 13 * 7
const ENDED_DAYS = 45

interface Cost {
  readonly calls: number
  /** Microseconds of a call. */
  readonly postgres: number
  readonly command: number
  /** Of an object, for a call. */
  readonly bytes: number
}

interface Checkout {
  readonly folder: string
  readonly archivePeriod: typeof archivePeriod
  readonly costs: Cost[]
}

const conditions = readConditions(`npm run bench:archiving -- --before CHECKOUT --calls ${calls}`)
const before = await open(resolve(values.before))
const after = await open(join(import.meta.dirname, '..', '..'))
const place = await openPlace('http://127.0.0.1:9')
let isClean = false
try {
  const server = await startEmbedded({ dataDir: place.dataDir })
  // The ids are made by a function of one session.
  const filler = connect(server.place, { connections: 1, statementTimeoutMs: STATEMENT_MS })
  const sql = connect(server.place, { connections: 2, statementTimeoutMs: STATEMENT_MS })
  try {
    await measure(sql, filler)
  } finally {
    await Promise.all([sql.end(), filler.end()])
    await server.stop()
  }
} finally {
  await place.close()
}
finish()

async function open(folder: string): Promise<Checkout> {
  const found = await import(join(folder, 'server/work/archive/archive-period.ts'))
  return { folder, archivePeriod: found.archivePeriod, costs: [] }
}

async function measure(sql: Sql, filler: Sql): Promise<void> {
  const [key] = place.keys
  if (!key) throw new Error('no key')
  await fillCalls(filler, key, { calls, days: DAYS, endedDays: ENDED_DAYS })
  for (const name of ['call', 'hold', 'entry']) await sql`vacuum analyze ${sql(name)}`
  await sealEverything(sql)
  while (await countEndedCalls(sql, 24 * 3600));
  await audit(sql)
  const weeks = await listPeriods(sql, 'week', new Date())
  for (const [index, week] of weeks.entries()) {
    const { folder, archivePeriod: archive, costs } = index % 2 === 0 ? before : after
    await sql.unsafe(readFileSync(join(folder, 'server/work/archive/sql/archive.sql'), 'utf8'))
    const blobs = createBlobs({
      sql,
      storage: createDiskStorage(join(place.dataDir, 'files')),
      log: createLog({ level: 'silent', format: 'json' }),
    })
    // Reading PostgreSQL's time costs this process some of its own.
    const postgres = readPostgres()
    const command = process.cpuUsage()
    const { holds } = await archive(week, { sql, blobs })
    const { user, system } = process.cpuUsage(command)
    const [row] = await sql<{ bytes: number }[]>`
      select sum(bytes)::float8 as bytes from archive_object where month = ${week.name}::date`
    const cost = {
      calls: holds,
      postgres: ((readPostgres() - postgres) * 1e6) / holds,
      command: (user + system) / holds,
      bytes: (row?.bytes ?? 0) / holds,
    }
    console.log(week.name, folder === before.folder ? 'before' : 'after', cost)
    // The first of each compiles.
    if (index > 1 && index < weeks.length - 1) costs.push(cost)
  }
  isClean = (await audit(sql)).ok
}

/** Returns the seconds of processors of all its processes. */
function readPostgres(): number {
  const postmaster = findPostmaster(place.dataDir)
  return postmaster === undefined ? 0 : readCpuSeconds(postmaster)
}

function finish(): void {
  const rows = [before, after].map(({ costs }, index) => {
    const postgres = median(costs.map((cost) => cost.postgres))
    const command = median(costs.map((cost) => cost.command))
    const sum = median(costs.map((cost) => cost.postgres + cost.command))
    const bytes = median(costs.map((cost) => cost.bytes))
    const label = index === 0 ? values.label : 'now'
    return [label, round(postgres), round(command), round(sum), round(bytes)]
  })
  report('archiving', conditions, { calls, before: before.costs, after: after.costs, isClean }, [
    ...table([
      ['µs of a call', 'PostgreSQL', 'the command', 'both', 'bytes of its object'],
      ...rows,
    ]),
    '',
    'User and system time of all processes of PostgreSQL and of the command, medians of weeks in',
    `turns, each of about ${Math.round((calls / DAYS) * 7)} calls.`,
    `audit ${isClean ? 'clean' : 'NOT CLEAN'}`,
  ])
}
