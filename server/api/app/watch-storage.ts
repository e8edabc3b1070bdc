/**
 * Finds out whether live gateways keep files in different places. If they do, only the gateways of
 * one place accept files: the others would accept content that no other gateway can serve.
 */
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { randomText } from '../../base/lib/ids.ts'
import type { Log } from '../../base/lib/log.ts'
import { OperatorError } from '../../base/lib/operator-error.ts'
import { listStorages, setStorage } from '../../money/ledger/leases/owner-store.ts'
import type { Config } from '../config/config.ts'

const POLL_INTERVAL_MS = 5_000
const PROBLEM =
  'gateways keep files in different places, and cannot serve the files of each other: '
const REMEDY =
  'give all of them the same S3_ENDPOINT and S3_BUCKET, or a shared folder at DATA_DIR/files'

export interface StorageWatch {
  /** False while live gateways keep files in different places. */
  readonly isShared: () => boolean
  /** False while files are kept where others keep them, and not where this process does. */
  readonly keepsFiles: () => boolean
  readonly stop: () => void
}

/**
 * Records where this process keeps files, and watches where others do. Throws OperatorError if this
 * process does only part of the work (ROLE) and keeps files in a folder that the others do not
 * have: the processes that answer calls could not read a worker's results.
 */
export async function watchStorage(parts: {
  readonly config: Pick<Config, 'dataDir' | 'objectStore' | 'role'>
  readonly sql: Sql
  readonly ownerId: string
  readonly log: Log
}): Promise<StorageWatch> {
  const { config, sql, ownerId, log } = parts
  let own: string | undefined
  let places: readonly string[] = []
  const isShared = () => own === undefined || places.every((place) => place === own)
  const keepsFiles = () => isShared() || places[0] === own

  async function check(): Promise<void> {
    if (own === undefined) {
      const name = await nameStorage(config)
      await setStorage(sql, ownerId, name)
      own = name
    }
    const before = { isShared: isShared(), keepsFiles: keepsFiles() }
    places = await listStorages(sql)
    if (before.isShared !== isShared() || before.keepsFiles !== keepsFiles()) tell()
  }

  function tell(): void {
    if (isShared()) log.info({}, 'gateways keep files in one place again')
    else if (keepsFiles()) log.warn({}, `${PROBLEM}only those of this place accept any; ${REMEDY}`)
    else log.warn({}, `${PROBLEM}this one accepts none and copies no results; ${REMEDY}`)
  }

  const skip = (error: unknown) =>
    log.debug({ error }, 'the file storage of the gateways was not compared')
  await check().catch(skip)
  if (!keepsFiles() && config.role !== 'all' && !config.objectStore) {
    // The lease of this process outlives it for some seconds, in which its place must not count.
    await setStorage(sql, ownerId, null)
    throw new OperatorError(`with ROLE=${config.role}, ${PROBLEM}${REMEDY}`)
  }
  const timer = setInterval(() => void check().catch(skip), POLL_INTERVAL_MS)
  timer.unref()
  return { isShared, keepsFiles, stop: () => clearInterval(timer) }
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
