/** Folders and files that only their owner may read, whoever made them before. */
import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'

/** Group and others. */
const OTHERS = 0o077
const STICKY = 0o1000
/** Folders of the whole system: closing one of them would shut everybody out. */
const SHARED = /^\/(?:etc|home|mnt|opt|srv|tmp|usr(?:\/local)?|var(?:\/(?:lib|local|tmp))?)?$/

/** Makes a folder for its owner alone, or closes one that is open to others. */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  closeToOthers(path)
}

/**
 * Takes the rights of group and others away from what belongs to us. What is somebody else's, and
 * folders that a system shares, stay as they are.
 */
export function closeToOthers(path: string): void {
  const { mode, uid } = statSync(path)
  const isSystems = SHARED.test(path) || path === homedir()
  const isShared = (mode & STICKY) !== 0 || isSystems || uid !== process.getuid?.()
  if ((mode & OTHERS) === 0 || isShared) return
  try {
    chmodSync(path, mode & 0o700)
  } catch {
    // Some file systems keep no modes: what they guard, they guard in another way.
  }
}
