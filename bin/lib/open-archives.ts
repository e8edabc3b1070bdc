/** Opens the storage of archives: that of files and media. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { createLog } from '../../server/app/log.ts'
import { archivedEntries } from '../../server/archive/verify-archives.ts'
import { type Blobs, createBlobs } from '../../server/assets/storage/blobs.ts'
import { openStorage } from '../../server/assets/storage/open-storage.ts'
import { type Config, loadConfig } from '../../server/config/config.ts'
import type { ReadArchived } from '../../server/ledger/books/chain-source.ts'
import { FILES_FILE } from './backup-database.ts'

export function openArchives(sql: Sql, config: Config): Blobs {
  const log = createLog({ level: 'silent', format: 'json' })
  return createBlobs({ sql, storage: openStorage(config), log })
}

/** Returns the reader of archived entries for the sealed books. */
export function openArchivedEntries(config: Config): ReadArchived {
  return archivedEntries(openStorage(config))
}

/**
 * Returns a reader for the entries that a backup names: from the files in it, or from the storage
 * of this gateway. Settings are read only if there are archives.
 */
export function openBackedUpEntries(folder: string): ReadArchived {
  return async function* (objects) {
    if (objects.length === 0) return
    const config = loadConfig()
    const hasFiles = existsSync(join(folder, FILES_FILE))
    yield* openArchivedEntries(hasFiles ? { ...config, dataDir: folder } : config)(objects)
  }
}
