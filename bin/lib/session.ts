/** Opens the configuration and an up-to-date database for a command, and closes them at the end. */

import { statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { Sql, TransactionSql } from 'postgres'
import { type Config, loadConfig } from '../../server/api/config/config.ts'
import { writeAudit } from '../../server/api/sign-in/audit-log/audit-log.ts'
import { migrate } from '../../server/base/database/migrations/migrate.ts'
import { openDatabase } from '../../server/base/database/open.ts'
import { OperatorError } from '../../server/base/lib/operator-error.ts'

export const MIGRATIONS = join(import.meta.dirname, '..', '..', 'migrations')

export interface CommandSession {
  readonly config: Config
  readonly sql: Sql
}

/** Opens the database (joins the embedded one, or starts it temporarily) and migrates it. */
export async function withSession<T>(work: (session: CommandSession) => Promise<T>): Promise<T> {
  return await withDatabase(async (session) => {
    await migrate(session.sql, MIGRATIONS, { onWaiting: tellProgress })
    return await work(session)
  })
}

/** Opens the database without migrating it. */
export async function withDatabase<T>(work: (session: CommandSession) => Promise<T>): Promise<T> {
  const config = loadConfig()
  const { databaseUrl, dataDir } = config
  const options = { databaseUrl, dataDir, owner: false, patient: true, onProgress: tellProgress }
  const database = await openDatabase(options)
  try {
    return await work({ config, sql: database.sql })
  } finally {
    await database.stop()
  }
}

/**
 * Throws OperatorError if there is no embedded database: a job of the night that lacks the
 * gateway's settings would create one, find nothing wrong with it, and succeed every night.
 */
export function requireDatabase(): void {
  const { databaseUrl, dataDir } = loadConfig(process.env, {}, false)
  if (databaseUrl === undefined && isMissing(join(dataDir, 'postgres'))) {
    throw new OperatorError(
      `there is no database in ${dataDir}: set DATA_DIR or DATABASE_URL as for the gateway`,
    )
  }
}

/** Returns false for a path that this user may not read: opening it says why. */
function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}

/** Reports what a command waits for. */
export function tellProgress(message: string): void {
  console.error(`… ${message}`)
}

/** Returns the name of the operating system's user, for the audit log. */
export function actor(): string {
  try {
    return `cli:${userInfo().username}`
  } catch {
    return 'cli'
  }
}

/**
 * Records what a command did in the audit log. `action` is the key of the admin route that does the
 * same, where there is one.
 */
export function recordAct(
  sql: Sql | TransactionSql,
  action: string,
  subject: { readonly target: string; readonly accountId?: string },
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  return writeAudit(sql, { actor: actor(), action, ...subject, details })
}
