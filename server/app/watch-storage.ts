/** Notices live gateways that keep files in another place than this one. */
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import type { Config } from '../config/config.ts'
import { countStorages, setStorage } from '../ledger/leases/owner-store.ts'
import { randomText } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'

const POLL_INTERVAL_MS = 30_000
const ADVICE =
  'gateways keep files in different places, and cannot serve the files of each other: ' +
  'give all of them the same S3_ENDPOINT and S3_BUCKET, or a shared folder at DATA_DIR/files'

export interface StorageWatch {
  /** False while live gateways keep files in different places. */
  readonly isShared: () => boolean
  readonly stop: () => void
}

/** Records where this process keeps files, and warns when others keep theirs elsewhere. */
export async function watchStorage(parts: {
  readonly config: Pick<Config, 'dataDir' | 'objectStore'>
  readonly sql: Sql
  readonly ownerId: string
  readonly log: Log
}): Promise<StorageWatch> {
  const { config, sql, ownerId, log } = parts
  let shared = true
  async function check(): Promise<void> {
    const now = (await countStorages(sql)) <= 1
    if (shared && !now) log.warn({}, ADVICE)
    shared = now
  }
  const skip = (error: unknown) =>
    log.debug({ error }, 'the file storage of the gateways was not compared')
  await nameStorage(config)
    .then((name) => setStorage(sql, ownerId, name))
    .then(check)
    .catch(skip)
  const timer = setInterval(() => void check().catch(skip), POLL_INTERVAL_MS)
  timer.unref()
  return { isShared: () => shared, stop: () => clearInterval(timer) }
}

/** Returns a name that is the same for all processes with the same store or folder. */
async function nameStorage({ dataDir, objectStore }: Pick<Config, 'dataDir' | 'objectStore'>) {
  if (objectStore) return `${objectStore.endpoint}/${objectStore.bucket}`
  const folder = join(dataDir, 'files')
  const path = join(folder, 'storage-id')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const name = randomText(32)
  const written = `${path}-${name}`
  await writeFile(written, name, { mode: 0o600 })
  // Linked when complete, so that a process that starts meanwhile never reads half of it.
  await link(written, path)
    .catch((error) => {
      if (error.code !== 'EEXIST') throw error
    })
    .finally(() => rm(written))
  return await readFile(path, 'utf8')
}
