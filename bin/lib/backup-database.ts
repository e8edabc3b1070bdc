/** Shared by `backup` and `restore`: opening the database and reporting on files. */
import { join } from 'node:path'
import { type Config, loadConfig } from '../../server/api/config/config.ts'
import { type OpenedDatabase, openDatabase } from '../../server/base/database/open.ts'
import type { CopiedContent } from '../../server/work/assets/storage/copy-content.ts'

/** Written once all files are copied. */
export const FILES_FILE = 'files.json'

export function describeFiles({ files, bytes, missing, elsewhere }: CopiedContent): string {
  const parts = [
    `${files} files and media of ${(bytes / 1_000_000).toFixed(1)} MB`,
    ...(missing > 0 ? [`${missing} are missing`] : []),
    ...(elsewhere > 0 ? [`${elsewhere} are in the object store`] : []),
  ]
  return `${parts.join(', ')}.`
}

/** Opens the database; a restore owns an embedded one, so that a running gateway is detected. */
export async function withBackupDatabase(
  owner: boolean,
  work: (database: OpenedDatabase, config: Config) => Promise<void>,
): Promise<void> {
  // Whoever has lost the key can restore all the same.
  const config = loadConfig(process.env, {}, false)
  const { databaseUrl, dataDir } = config
  const database = await openDatabase({ databaseUrl, dataDir, owner, patient: true, onProgress })
  try {
    await work(database, config)
  } finally {
    await database.stop()
  }
}

export function onProgress(message: string): void {
  console.error(`… ${message}`)
}

/** Returns undefined if the key is not kept in a file. */
export function findSecretKey({ databaseUrl, secretKeys, dataDir }: Config): string | undefined {
  const isKept = databaseUrl === undefined && secretKeys === undefined
  return isKept ? join(dataDir, 'secret-key') : undefined
}
