/**
 * Chooses where content lies: an object store when one is configured, else the local disk. What
 * was written before that changed stays readable where it is, as long as both can be reached.
 */
import { join } from 'node:path'
import { createDiskStorage } from './disk-storage.ts'
import { createS3Storage, isS3Key, type ObjectStore } from './s3-storage.ts'
import { type Storage, StorageTrouble } from './storage.ts'

export function openStorage(options: {
  readonly dataDir: string
  readonly objectStore: ObjectStore | undefined
}): Storage {
  const disk = createDiskStorage(join(options.dataDir, 'files'))
  const remote = options.objectStore && createS3Storage(options.objectStore)

  function placeOf(key: string): Storage {
    if (!isS3Key(key)) return disk
    if (remote) return remote
    throw new StorageTrouble('this content lies in an object store that is not configured')
  }

  return {
    newKey: () => (remote ?? disk).newKey(),
    write: async (key, content, limitBytes) => placeOf(key).write(key, content, limitBytes),
    read: async (key, range) => placeOf(key).read(key, range),
    remove: async (key) => placeOf(key).remove(key),
  }
}
