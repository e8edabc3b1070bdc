/**
 * The drill of docs/guides/backup-and-restore.md#proof: a busy database of three gateways, of which
 * one is killed in each round, is backed up repeatedly, and each backup is restored elsewhere and
 * checked.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { connect } from '../../server/base/database/connection/client.ts'
import { openDatabase } from '../../server/base/database/open.ts'
import { readClock } from '../../testbed/books.ts'
import { type Laboratory, openLaboratory } from '../../testbed/laboratory.ts'
import { createRandom, type Random } from '../../testbed/random.ts'
import type { PostgresChoice } from '../../tests/support/database/chosen-postgres.ts'
import {
  archiveEverything,
  archivingInto,
  makeArchive,
  recoverTo,
  takeBaseBackup,
} from './archive.ts'
import { startChurn } from './churn.ts'
import { type Fleet, startFleet } from './fleet.ts'
import {
  type Charges,
  type Judgement,
  judgeCopy,
  judgeSource,
  type Moment,
  readBreaks,
  readCharges,
} from './judge.ts'
import {
  environmentOf,
  killBackup,
  restoreCopy,
  resume,
  type Target,
  takeBackup,
} from './restore-copy.ts'

export interface DrillOptions {
  readonly seed: number
  readonly backups: number
  /** The number of instants to which the archive is replayed. */
  readonly points: number
  readonly perSecond: number
  readonly log: (text: string) => void
  readonly postgres?: PostgresChoice | undefined
}

export interface Round extends Judgement {
  readonly name: string
  readonly rows: number
}

export interface DrillResult {
  readonly backups: readonly Round[]
  readonly points: readonly Round[]
  readonly calls: number
  readonly complete: number
  readonly kills: number
  readonly sourceBreaks: readonly string[]
}

/** A restored state, judged once all callers' answers are known. */
interface Restored extends Moment {
  readonly name: string
  readonly rows: number
  readonly found: Charges
  readonly breaks: readonly string[]
}

interface Scene {
  readonly laboratory: Laboratory
  readonly folder: string
  readonly archive: string
  readonly random: Random
  readonly fleet: Fleet
  readonly options: DrillOptions
}

const WARM_UP_MS = 3_000
const EVERY = 4

/**
 * Runs the drill. Each round lists the problems of its restored state. Throws if a backup fails or
 * a restored database does not answer.
 */
export async function runDrill(options: DrillOptions): Promise<DrillResult> {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-drill-'))
  const archive = makeArchive(join(folder, 'archive'))
  const random = createRandom(options.seed)
  const laboratory = await openLaboratory({
    shared: true,
    accounts: 5,
    keys: 40,
    settings: archivingInto(archive),
    postgres: options.postgres ?? 'embedded',
  })
  try {
    const fleet = await startFleet(laboratory, { perSecond: options.perSecond, random })
    return await play({ laboratory, folder, archive, random, fleet, options })
  } finally {
    await laboratory.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function play(scene: Scene): Promise<DrillResult> {
  const { laboratory, fleet, options, random } = scene
  const { dataDir, databaseUrl } = laboratory
  const database = await openDatabase({ dataDir, databaseUrl, owner: false, patient: true })
  const { sql, place } = database
  const churn = startChurn(place, laboratory.accountIds[0] ?? '', random)
  await sleep(WARM_UP_MS)
  const base = join(scene.folder, 'base')
  if (options.points > 0) {
    const single = connect(place, { connections: 1, patient: true, statementTimeoutMs: 0 })
    await takeBaseBackup(single, laboratory.dataDir, base)
    await single.end({ timeout: 1 })
  }
  const restored: Restored[] = []
  const instants: Instant[] = []
  for (let number = 1; number <= options.backups; number += 1) {
    restored.push(await backUp(scene, number))
    if (instants.length < options.points) instants.push(await chooseInstant(sql, random))
  }
  await churn.stop()
  const calls = await fleet.stop()
  const { charges, breaks } = await judgeSource(sql, calls, await laboratory.simulators.readBook())
  if (instants.length > 0) await archiveEverything(sql)
  await database.stop()
  const replayed: Restored[] = []
  for (const instant of instants) replayed.push(await replay(scene, base, instant))
  const judge = (state: Restored): Round => {
    const judged = judgeCopy(state.found, calls, state, charges)
    const { name, rows } = state
    return { ...judged, name, rows, breaks: [...state.breaks, ...judged.breaks] }
  }
  return {
    backups: restored.map(judge),
    points: replayed.map(judge),
    calls: calls.length,
    complete: calls.filter(({ outcome }) => outcome === 'complete').length,
    kills: fleet.kills(),
    sourceBreaks: breaks,
  }
}

interface Instant extends Moment {
  readonly at: Date
}

/** Returns an instant by the database's clock, in the middle of the load. */
async function chooseInstant(sql: Sql, random: Random): Promise<Instant> {
  const fromMs = performance.now()
  const at = new Date((await readClock(sql)).getTime() + 1)
  await sleep(random.integer(5, 500))
  return { at, fromMs, toMs: performance.now() }
}

/** Takes one backup while a gateway is killed, and restores it while the load continues. */
async function backUp(scene: Scene, number: number): Promise<Restored> {
  const { laboratory, folder, random, fleet, options } = scene
  const environment = environmentOf(laboratory.dataDir, laboratory.databaseUrl)
  const target = join(folder, `copy-${number}`)
  const breaks: string[] = []
  if (number % EVERY === 0 && !(await killBackup(environment, target, random))) {
    breaks.push('a backup that was killed left a folder under its name')
  }
  rmSync(target, { recursive: true, force: true })
  const pauseMs = random.integer(0, 2_000)
  const killing = sleep(pauseMs).then(() => fleet.killOne())
  const copy = await takeBackup(environment, target)
  await killing
  const kind: Target = number % 2 === 0 ? 'embedded' : 'external'
  const name = `backup ${number} (${kind}, kill after ${pauseMs} ms)`
  const dataDir = join(folder, `restored-${number}`)
  const restored = await restoreCopy(copy, kind, dataDir)
  try {
    const { sql, url, rows } = restored
    breaks.push(...restored.breaks, ...(await readBreaks(sql)))
    const found = await readCharges(sql)
    if (number % EVERY === 1) breaks.push(...(await resume(url, dataDir, sql)))
    options.log(`${name}: ${rows} rows, ${breaks.length} breaks`)
    return { name, rows, found, breaks, fromMs: copy.fromMs, toMs: copy.toMs }
  } finally {
    await restored.close()
    for (const path of [dataDir, target]) rmSync(path, { recursive: true, force: true })
  }
}

async function replay(scene: Scene, base: string, instant: Instant): Promise<Restored> {
  const { folder, archive, options } = scene
  const dataDir = join(folder, `replayed-${instant.at.getTime()}`)
  const server = await recoverTo(instant.at, {
    base,
    archive,
    dataDir,
    choice: options.postgres ?? 'embedded',
  })
  const sql = connect(server.place, { connections: 4, patient: true })
  try {
    const audited = await readBreaks(sql)
    const found = await readCharges(sql)
    const [row] = await sql<{ rows: number }[]>`select count(*)::int as rows from entry`
    const breaks = [...audited, ...(await resume(server.url, dataDir, sql))]
    const name = `replayed to ${instant.at.toISOString()}`
    const rows = row?.rows ?? 0
    options.log(`${name}: ${rows} entries, ${breaks.length} breaks`)
    return { name, rows, found, breaks, fromMs: instant.fromMs, toMs: instant.toMs }
  } finally {
    await sql.end({ timeout: 1 })
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
