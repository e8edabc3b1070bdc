/**
 * Opens the database of a gateway. Loaded on its own, so that PostgreSQL starts while the rest of
 * the gateway is loaded.
 */
import cluster from 'node:cluster'
import type { Config } from '../config/config.ts'
import { type OpenedDatabase, openDatabase } from '../database/open.ts'
import { createLog } from './log.ts'

export function openOwnDatabase(config: Config): Promise<OpenedDatabase> {
  const log = createLog(config.log)
  return openDatabase({
    databaseUrl: config.databaseUrl,
    dataDir: config.dataDir,
    // The supervisor of workers owns the embedded one, and they join it.
    owner: cluster.isPrimary,
    onProgress: (message) => log.info({}, message),
    onTrouble: (error, message) => log.error({ error }, message),
  })
}
