/** Bytes on the local disk under DATA_DIR: written aside, synced, and renamed when complete. */
import { createWriteStream } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { randomText } from '../../lib/ids.ts'
import { createMeter, type Storage, StorageTrouble } from './storage.ts'

const KEY = /^[A-Za-z0-9]{32}$/
/** The disk, not the content, is at fault. */
const TROUBLES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EACCES'])

export const isDiskKey = (key: string): boolean => KEY.test(key)

/** Throws for a key that is not one: it would lead elsewhere. */
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
      const aside = `${path}.part`
      const meter = createMeter(limitBytes)
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 })
        await pipeline(content, meter.stream, createWriteStream(aside, { mode: 0o600 }))
        await sync(aside)
        await rename(aside, path)
        await sync(dirname(path))
      } catch (error) {
        await rm(aside, { force: true })
        throw isTrouble(error) ? new StorageTrouble('the disk', { cause: error }) : error
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

function isTrouble(error: unknown): boolean {
  return error instanceof Error && 'code' in error && TROUBLES.has(String(error.code))
}

/** A file's bytes, or a folder's entries, survive a loss of power. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
