/** Free disk space of the data folder. */
import { statfsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'

const MEGABYTE = 1024 * 1024
const FREE_SHARE_MIN = 0.05
const FREE_BYTES_LEAST = 64 * MEGABYTE
const FREE_BYTES_MOST = 512 * MEGABYTE

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
