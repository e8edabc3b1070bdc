/** Storage on the local disk: a temporary file, synced, and renamed when complete. */
import { createWriteStream } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { randomText } from '../../lib/ids.ts'
import { createMeter, type Storage, StorageUnavailable } from './storage.ts'

const KEY = /^[A-Za-z0-9]{32}$/
/** Error codes that mean a fault of the disk, not of the content. */
const DISK_FAULTS: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EACCES'])

export const isDiskKey = (key: string): boolean => KEY.test(key)

/** Throws for a malformed key, which could point outside the folder. */
export function pathOfContent(folder: string, key: string): string {
  if (!isDiskKey(key)) throw new Error('not a key of this storage')
  return join(folder, key.slice(0, 2), key)
}

export function createDiskStorage(folder: string): Storage {
  const pathOf = (key: string) => pathOfContent(folder, key)
  return {
    newKey: () => randomText(32),
    async write(key, content, limitBytes) {
      const path = pathOf(key)
      const partPath = `${path}.part`
      const meter = createMeter(limitBytes)
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 })
        await pipeline(content, meter.stream, createWriteStream(partPath, { mode: 0o600 }))
        await sync(partPath)
        await rename(partPath, path)
        await sync(dirname(path))
      } catch (error) {
        await rm(partPath, { force: true })
        throw isDiskFault(error) ? new StorageUnavailable('the disk', { cause: error }) : error
      }
      return meter.written()
    },
    async read(key, range) {
      const handle = await open(pathOf(key))
      return handle.createReadStream({ ...range, autoClose: true })
    },
    async remove(key) {
      const path = pathOf(key)
      await rm(path, { force: true })
      await rm(`${path}.part`, { force: true })
    },
  }
}

function isDiskFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && DISK_FAULTS.has(String(error.code))
}

/** Syncs a file's bytes, or a folder's entries, to survive a loss of power. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
