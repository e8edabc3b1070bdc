/**
 * Selects the storage of new content: an object store if one is configured, else the local disk.
 * Content written to the other one before stays readable there.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createDiskStorage } from './disk-storage.ts'
import type { ObjectStore } from './s3-client.ts'
import { createS3Storage, isS3Key } from './s3-storage.ts'
import { type Storage, StorageUnavailable } from './storage.ts'

export function openStorage(options: {
  readonly dataDir: string
  readonly objectStore: ObjectStore | undefined
  /** Called with false when the object store stops answering, and with true when it is back. */
  readonly onStoreChange?: (isThere: boolean) => void
}): Storage {
  const folder = join(options.dataDir, 'files')
  const disk = createDiskStorage(folder)
  const remote =
    options.objectStore &&
    createS3Storage(
      options.objectStore,
      options.onStoreChange ? { onChange: options.onStoreChange } : {},
    )

  function storageOf(key: string): Storage {
    if (!isS3Key(key)) return disk
    if (remote) return remote
    throw new StorageUnavailable('this content lies in an object store that is not configured')
  }

  return {
    newKey: () => (remote ?? disk).newKey(),
    write: async (key, content, limitBytes) => storageOf(key).write(key, content, limitBytes),
    read: async (key, range) => storageOf(key).read(key, range),
    async *list() {
      // A gateway that has only ever used an object store has no folder.
      if (remote) {
        yield* remote.list()
        if (!existsSync(folder)) return
      }
      yield* disk.list()
    },
    remove: async (key) => storageOf(key).remove(key),
  }
}
