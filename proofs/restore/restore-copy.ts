/** One backup of the busy database by the command line, and its restoration. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { connect } from '../../server/base/database/connection/client.ts'
import { startEmbedded } from '../../server/base/database/embedded/embedded.ts'
import { waitForHolds } from '../../testbed/holds.ts'
import type { Random } from '../../testbed/random.ts'
import { ROOT, runWith } from '../../tests/cli/support.ts'
import { urlOf } from '../../tests/support/database/chosen-postgres.ts'
import { startGateway } from '../../tests/support/gateway.ts'
import { createTestDatabase } from '../../tests/support/postgres.ts'
import { startProcess } from '../../tests/support/processes.ts'
import { type Moment, readBreaks } from './judge.ts'

const SECRET_KEY = 'a-secret-key-of-tests-which-is-long-enough'

/** The target of a restore. */
export type Target = 'external' | 'embedded'

export interface Copy extends Moment {
  readonly folder: string
}

/** The content of a restored database, open until `close`. */
export interface RestoredCopy {
  readonly sql: Sql
  readonly url: string
  readonly rows: number
  readonly breaks: readonly string[]
  close(): Promise<void>
}

export function environmentOf(dataDir: string, databaseUrl?: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    TMPDIR: process.env.TMPDIR,
    TRIBUTARY_TEST_UNSAFE_DATABASE: '1',
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    SECRET_KEY,
  }
}

/** Runs `tributary backup`. Throws if it fails. */
export async function takeBackup(environment: NodeJS.ProcessEnv, folder: string): Promise<Copy> {
  const fromMs = performance.now()
  const { code, err } = await runWith(environment, ['backup', '--to', folder])
  if (code !== 0) throw new Error(`the backup failed: ${err}`)
  return { folder, fromMs, toMs: performance.now() }
}

/** Kills a backup in progress; returns true if it left nothing that looks like one. */
export async function killBackup(
  environment: NodeJS.ProcessEnv,
  folder: string,
  random: Random,
): Promise<boolean> {
  const command = [process.execPath, join(ROOT, 'bin', 'tributary.ts')] as const
  const child = await startProcess([...command, 'backup', '--to', folder], { env: environment })
  await sleep(random.integer(300, 2_500))
  if (child.hasExited()) return true
  child.signal('SIGKILL')
  await child.exited
  return !existsSync(folder) || existsSync(join(folder, 'manifest.json'))
}

/** Restores a copy, lists its problems, and opens its database for queries. */
export async function restoreCopy(
  copy: Copy,
  target: Target,
  dataDir: string,
): Promise<RestoredCopy> {
  const place = target === 'external' ? await openEmpty() : undefined
  const environment = environmentOf(dataDir, place?.url)
  const breaks: string[] = []
  const restored = await runJson(environment, ['restore', '--from', copy.folder])
  if (!restored.report?.compared.same || !restored.report.audit.ok) {
    breaks.push(`restore: ${restored.code} ${restored.err.slice(-300)}`)
  }
  const verified = await runJson(environment, ['restore', '--from', copy.folder, '--verify'])
  if (verified.code !== 0 || !verified.report?.compared.same) {
    breaks.push(`restore --verify: ${verified.code} ${verified.err.slice(-300)}`)
  }
  const rows = restored.report?.compared.rows ?? 0
  if (place) return { sql: place.sql, url: place.url, rows, breaks, close: place.drop }
  const server = await startEmbedded({ dataDir })
  const sql = connect(server.place, { connections: 4, patient: true })
  return {
    sql,
    url: urlOf(server.place),
    rows,
    breaks,
    async close() {
      await sql.end({ timeout: 1 })
      await server.stop()
    },
  }
}

interface Report {
  readonly compared: { readonly same: boolean; readonly rows: number }
  readonly audit: { readonly ok: boolean }
}

async function runJson(environment: NodeJS.ProcessEnv, words: readonly string[]) {
  const { code, out, err } = await runWith(environment, [...words, '--json'])
  const report: Report | undefined = out === '' ? undefined : JSON.parse(out)
  return { code, err, report }
}

async function openEmpty() {
  const database = await createTestDatabase()
  await database.sql.unsafe('drop schema public cascade; create schema public')
  return database
}

/** Starts a gateway on a restored database: it closes open holds, and the books stay consistent. */
export async function resume(databaseUrl: string, dataDir: string, sql: Sql): Promise<string[]> {
  const gateway = await startGateway({ dataDir, databaseUrl })
  try {
    await waitForHolds(sql)
  } finally {
    await gateway.stop()
  }
  return (await readBreaks(sql)).map((text) => `after a restart: ${text}`)
}
