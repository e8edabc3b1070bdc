/** Creates folders and files that only their owner can read, and restricts existing ones. */
import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'

/** Permissions of group and others. */
const OTHERS = 0o077
const STICKY = 0o1000
/** System folders, which must not be restricted. */
const SHARED = /^\/(?:etc|home|mnt|opt|srv|tmp|usr(?:\/local)?|var(?:\/(?:lib|local|tmp))?)?$/

/** Creates a folder for its owner only, or restricts an existing one. */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  closeToOthers(path)
}

/**
 * Removes the permissions of group and others from what this user owns. Other users' files and
 * system folders stay unchanged.
 */
export function closeToOthers(path: string): void {
  const { mode, uid } = statSync(path)
  const isSystems = SHARED.test(path) || path === homedir()
  const isShared = (mode & STICKY) !== 0 || isSystems || uid !== process.getuid?.()
  if ((mode & OTHERS) === 0 || isShared) return
  try {
    chmodSync(path, mode & 0o700)
  } catch {
    // Some file systems do not support modes.
  }
}
