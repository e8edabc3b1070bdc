/** A file system of a few megabytes of its own, where the machine lets us mount one. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** Why there are no small disks here, or false. */
export const noSmallDisk = findRefusal()

function findRefusal(): string | false {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-disk-'))
  const refusal = mount(folder, 1)
  if (refusal === false) spawnSync('umount', [folder])
  rmSync(folder, { recursive: true, force: true })
  return refusal
}

function mount(folder: string, megabytes: number): string | false {
  const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', folder]
  const mounted = spawnSync('mount', options, { encoding: 'utf8' })
  if (mounted.status === 0) return false
  return `a tmpfs cannot be mounted: ${(mounted.stderr ?? mounted.error?.message ?? '').trim()}`
}

/** The folder it is mounted on, until the end of the test. */
export function mountSmallDisk(t: Pick<TestContext, 'after'>, megabytes: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-disk-'))
  t.after(() => {
    spawnSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true, force: true })
  })
  const refusal = mount(folder, megabytes)
  if (refusal !== false) throw new Error(refusal)
  return folder
}

export function remountReadOnly(folder: string): void {
  spawnSync('mount', ['-o', 'remount,ro', folder])
}
