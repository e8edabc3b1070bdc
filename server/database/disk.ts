/** How much room is left where the data lies. */
import { statfs } from 'node:fs/promises'

const FREE_BYTES_MIN = 512 * 1024 * 1024
const FREE_SHARE_MIN = 0.05

/**
 * Why no paid work should be taken, or undefined while there is room: less than 5 % free and less
 * than 512 MB free (either alone is normal on a very large or very small disk).
 */
export async function refuseWhenFull(folder: string): Promise<string | undefined> {
  const { bavail, blocks, bsize } = await statfs(folder)
  const free = bavail * bsize
  const least = Math.min(
    FREE_BYTES_MIN,
    Math.max(blocks * bsize * FREE_SHARE_MIN, 64 * 1024 * 1024),
  )
  return free < least ? `only ${Math.floor(free / 1024 / 1024)} MB are free on the disk` : undefined
}
