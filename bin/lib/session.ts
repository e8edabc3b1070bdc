/** Shared by most commands: the configuration and an up-to-date database, closed at the end. */

import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { type Config, loadConfig } from '../../server/config/config.ts'
import { migrate } from '../../server/database/migrations/migrate.ts'
import { openDatabase } from '../../server/database/open.ts'

export const MIGRATIONS = join(import.meta.dirname, '..', '..', 'migrations')

export interface CommandSession {
  readonly config: Config
  readonly sql: Sql
}

/** Opens the database (joins the embedded one, or starts it for as long as needed) and migrates. */
export async function withSession<T>(work: (session: CommandSession) => Promise<T>): Promise<T> {
  return await withDatabase(async (session) => {
    await migrate(session.sql, MIGRATIONS)
    return await work(session)
  })
}

/** The database as it is. */
export async function withDatabase<T>(work: (session: CommandSession) => Promise<T>): Promise<T> {
  const config = loadConfig()
  const { databaseUrl, dataDir } = config
  const onProgress = (message: string) => console.error(`… ${message}`)
  const options = { databaseUrl, dataDir, owner: false, patient: true, onProgress }
  const database = await openDatabase(options)
  try {
    return await work({ config, sql: database.sql })
  } finally {
    await database.stop()
  }
}

/** Name of the person at the keyboard, for the audit log. */
export function actor(): string {
  try {
    return `cli:${userInfo().username}`
  } catch {
    return 'cli'
  }
}
