/** Opens the configuration and an up-to-date database for a command, and closes them at the end. */

import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { type Config, loadConfig } from '../../server/api/config/config.ts'
import { writeAudit } from '../../server/api/sign-in/audit-log/audit-log.ts'
import { migrate } from '../../server/base/database/migrations/migrate.ts'
import { openDatabase } from '../../server/base/database/open.ts'

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
  sql: Sql,
  action: string,
  subject: { readonly target: string; readonly accountId?: string },
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  return writeAudit(sql, { actor: actor(), action, ...subject, details })
}
