/**
 * Selects the storage of new content: an object store if one is configured, else the local disk.
 * Content written to the other one before stays readable there.
 */
import { join } from 'node:path'
import { createDiskStorage } from './disk-storage.ts'
import { createS3Storage, isS3Key, type ObjectStore } from './s3-storage.ts'
import { type Storage, StorageUnavailable } from './storage.ts'

export function openStorage(options: {
  readonly dataDir: string
  readonly objectStore: ObjectStore | undefined
}): Storage {
  const disk = createDiskStorage(join(options.dataDir, 'files'))
  const remote = options.objectStore && createS3Storage(options.objectStore)

  function storageOf(key: string): Storage {
    if (!isS3Key(key)) return disk
    if (remote) return remote
    throw new StorageUnavailable('this content lies in an object store that is not configured')
  }

  return {
    newKey: () => (remote ?? disk).newKey(),
    write: async (key, content, limitBytes) => storageOf(key).write(key, content, limitBytes),
    read: async (key, range) => storageOf(key).read(key, range),
    remove: async (key) => storageOf(key).remove(key),
  }
}
