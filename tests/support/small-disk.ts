/** A file system of a few megabytes of its own, where the machine lets us mount one. */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { makeDataDir } from './own-postgres.ts'

/** The mounted folder, or the reason why there is none. */
export function mountSmallDisk(
  t: TestContext,
  megabytes: number,
): { readonly folder: string } | { readonly reason: string } {
  if (process.platform !== 'linux') return { reason: 'mounting a tmpfs needs Linux' }
  const folder = makeDataDir()
  const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', folder]
  const mounted = spawnSync('mount', options, { encoding: 'utf8' })
  t.after(() => {
    if (mounted.status === 0) spawnSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true, force: true })
  })
  if (mounted.status === 0) return { folder }
  return { reason: `cannot mount a tmpfs: ${mounted.stderr ?? mounted.error?.message}` }
}

export function remountReadOnly(folder: string): void {
  spawnSync('mount', ['-o', 'remount,ro', folder])
}
