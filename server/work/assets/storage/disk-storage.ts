/** Storage on the local disk: a temporary file, synced, and renamed when complete. */
import { createReadStream, createWriteStream, open as openDescriptor } from 'node:fs'
import { access, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { readErrorCode } from '../../../base/database/unavailable.ts'
import { randomText } from '../../../base/lib/ids.ts'
import { giveToOwnerOf } from '../../../base/lib/secrets/private-files.ts'
import { ContentMissing, createMeter, type Storage, StorageUnavailable } from './storage.ts'

/** Not a FileHandle, because Node ends the process if an open one is garbage-collected. */
const openFile = promisify(openDescriptor)

const KEY = /^[A-Za-z0-9]{32}$/
const SUBFOLDER = /^[A-Za-z0-9]{2}$/
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
        await giveToOwnerOf(dirname(folder), [folder, dirname(path), partPath])
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
      const fd = await openFile(pathOf(key), 'r').catch((error: unknown) => explain(folder, error))
      return createReadStream('', { ...range, fd, autoClose: true })
    },
    async *list() {
      for (const name of await readdir(folder)) {
        if (!SUBFOLDER.test(name)) continue
        const names = await readdir(join(folder, name))
        yield names.filter((key) => isDiskKey(key) && key.startsWith(name))
      }
    },
    async remove(key) {
      const path = pathOf(key)
      // Without the folder, the content may be on a disk of another gateway.
      await access(folder).catch((cause: unknown) => {
        throw new StorageUnavailable('the disk', { cause })
      })
      await rm(path, { force: true })
      await rm(`${path}.part`, { force: true })
    },
  }
}

/** If the folder is gone, for example because a disk is not mounted, no file counts as lost. */
async function explain(folder: string, error: unknown): Promise<never> {
  const isMissing = readErrorCode(error) === 'ENOENT'
  const hasFolder = await access(folder).then(
    () => true,
    () => false,
  )
  if (isMissing && hasFolder) throw new ContentMissing('the disk', { cause: error })
  throw new StorageUnavailable('the disk', { cause: error })
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
