/** Free disk space of the data folder. */
import { statfsSync } from 'node:fs'
import { access, constants, statfs } from 'node:fs/promises'

const MEGABYTE = 1024 * 1024
const FREE_SHARE_MIN = 0.05
const FREE_BYTES_LEAST = 64 * MEGABYTE
const FREE_BYTES_MOST = 512 * MEGABYTE
/** Room for a settlement that waits for the database. */
const ROOM_BYTES_MIN = MEGABYTE

/**
 * Returns the bytes that must be free on a disk of this size for paid work: 5 %, but at least 64
 * MB, which running calls may still write, and at most 512 MB, which is enough on a large disk.
 */
export function leastFreeBytes(diskBytes: number): number {
  return Math.min(FREE_BYTES_MOST, Math.max(FREE_BYTES_LEAST, diskBytes * FREE_SHARE_MIN))
}

/**
 * Returns the size limit in megabytes of PostgreSQL's write-ahead log between two checkpoints, for
 * a disk of this size: the default of 1 GB could fill a small disk.
 */
export function walMegabytes(diskBytes: number): number {
  return Math.floor(Math.min(1024, Math.max(64, diskBytes / MEGABYTE / 10)))
}

export function diskBytes(folder: string): number {
  const { blocks, bsize } = statfsSync(folder)
  return blocks * bsize
}

/** Returns the reason to refuse paid work, or undefined while there is enough space. */
export async function refuseWhenFull(folder: string): Promise<string | undefined> {
  const { bavail, blocks, bsize } = await statfs(folder)
  const free = bavail * bsize
  const least = leastFreeBytes(blocks * bsize)
  if (free >= least) return undefined
  const [has, needs] = [free, least].map((bytes) => Math.floor(bytes / MEGABYTE))
  return `only ${has} MB are free on the disk of the database; paid work needs ${needs} MB`
}

/** Returns why the data folder cannot be written to, or undefined. Names no path. */
export async function refuseUnwritable(folder: string): Promise<string | undefined> {
  try {
    await access(folder, constants.W_OK)
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize < ROOM_BYTES_MIN ? 'DATA_DIR has no room' : undefined
  } catch (error) {
    const isGone = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    return isGone ? 'DATA_DIR is gone' : 'DATA_DIR cannot be written to'
  }
}
