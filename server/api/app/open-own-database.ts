/**
 * Opens the database of a gateway. Loaded on its own, so that PostgreSQL starts while the rest of
 * the gateway is loaded.
 */
import cluster from 'node:cluster'
import { prepareDataDir } from '../../base/database/embedded/folders.ts'
import { type OpenedDatabase, openDatabase } from '../../base/database/open.ts'
import type { Config } from '../config/config.ts'
import { createLog } from './log.ts'

export async function openOwnDatabase(config: Config): Promise<OpenedDatabase> {
  const log = createLog(config.log)
  // An embedded database prepares the folder itself.
  if (config.databaseUrl !== undefined) prepareDataDir(config.dataDir)
  return await openDatabase({
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    // With several workers the supervisor owns the embedded database, and they join it.
    owner: cluster.isPrimary,
    onProgress: (message) => log.info({}, message),
    onWarning: (message) => log.warn({}, message),
    onTrouble: (error, message) => log.error({ error }, message),
  })
}
