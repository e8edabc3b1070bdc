/**
 * Opens the database of a gateway. Loaded on its own, so that PostgreSQL starts while the rest of
 * the gateway is loaded.
 */
import type { Config } from '../config/config.ts'
import { type OpenedDatabase, openDatabase } from '../database/open.ts'
import { createLog } from './log.ts'

export function openOwnDatabase(config: Config): Promise<OpenedDatabase> {
  const log = createLog(config.log)
  return openDatabase({
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    owner: true,
    onProgress: (message) => log.info({}, message),
    onTrouble: (error, message) => log.error({ error }, message),
  })
}
