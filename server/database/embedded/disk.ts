/** How much room is left where the data lies. */
import { statfsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'

const MEGABYTE = 1024 * 1024
const FREE_SHARE_MIN = 0.05
const FREE_BYTES_LEAST = 64 * MEGABYTE
const FREE_BYTES_MOST = 512 * MEGABYTE

/**
 * How many bytes must be free on a disk of this size for paid work: 5 %, but at least 64 MB, which
 * is what the calls under way may still write, and at most 512 MB: of a large disk 5 % would be a
 * refusal for nothing, and a small disk could never be used if all of them had to have 512 MB.
 */
export function leastFreeBytes(diskBytes: number): number {
  return Math.min(FREE_BYTES_MOST, Math.max(FREE_BYTES_LEAST, diskBytes * FREE_SHARE_MIN))
}

/**
 * How much of a disk of this size PostgreSQL's log of changes may take between two checkpoints, in
 * megabytes: its usual gigabyte would fill a small disk whose data is far from filling it.
 */
export function walMegabytes(diskBytes: number): number {
  return Math.floor(Math.min(1024, Math.max(64, diskBytes / MEGABYTE / 10)))
}

export function diskBytes(folder: string): number {
  const { blocks, bsize } = statfsSync(folder)
  return blocks * bsize
}

/** Why no paid work should be taken, or undefined while there is room. */
export async function refuseWhenFull(folder: string): Promise<string | undefined> {
  const { bavail, blocks, bsize } = await statfs(folder)
  const free = bavail * bsize
  const least = leastFreeBytes(blocks * bsize)
  if (free >= least) return undefined
  const [has, needs] = [free, least].map((bytes) => Math.floor(bytes / MEGABYTE))
  return `only ${has} MB are free on the disk of the database; paid work needs ${needs} MB`
}
