/** Opens the storage of archives: that of files and media. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { createLog } from '../../server/api/app/log.ts'
import { type Config, loadConfig } from '../../server/api/config/config.ts'
import { OperatorError } from '../../server/base/lib/operator-error.ts'
import type { ReadArchived } from '../../server/money/ledger/books/chain-source.ts'
import { archivedEntries } from '../../server/work/archive/verify-archives.ts'
import { type Blobs, createBlobs } from '../../server/work/assets/storage/blobs.ts'
import { openStorage } from '../../server/work/assets/storage/open-storage.ts'
import { ContentMissing, StorageUnavailable } from '../../server/work/assets/storage/storage.ts'
import { FILES_FILE } from './backup-database.ts'

export function openArchives(sql: Sql, config: Config): Blobs {
  const log = createLog({ level: 'silent', format: 'json' })
  return createBlobs({ sql, storage: openStorage(config), log })
}

const CAUSES_MAX = 6
const REASON_LENGTH_MAX = 400

/** Adds the storage's location and the reason to its errors, which otherwise name neither. */
export async function namingStorage<T>(
  config: Pick<Config, 'objectStore' | 'dataDir'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const causes = causesOf(error)
    const isOfStorage = causes.some((one) => {
      return one instanceof StorageUnavailable || one instanceof ContentMissing || isDamage(one)
    })
    if (!isOfStorage) throw error
    const reasons = new Set(causes.map(({ message }) => message))
    const reason = [...reasons].join(': ').slice(0, REASON_LENGTH_MAX)
    throw new OperatorError(`${placeOfStorage(config)}: ${reason}`, { cause: error })
  }
}

/** Names the place of files and archives. */
export function placeOfStorage({
  objectStore,
  dataDir,
}: Pick<Config, 'objectStore' | 'dataDir'>): string {
  return objectStore
    ? `the object store ${objectStore.endpoint}, bucket ${objectStore.bucket}`
    : join(dataDir, 'files')
}

const isDamage = (error: Error): boolean => / of the archive is damaged/.test(error.message)

function causesOf(error: unknown): Error[] {
  const causes: Error[] = []
  for (let one = error; one instanceof Error && causes.length < CAUSES_MAX; one = one.cause) {
    causes.push(one)
  }
  return causes
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
