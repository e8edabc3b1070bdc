/** Creates folders and files that only their owner can read, and restricts existing ones. */
import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { chown, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname } from 'node:path'

/** Permissions of group and others. */
const OTHERS = 0o077
const STICKY = 0o1000
/** System folders, which must not be restricted. */
const SHARED = /^\/(?:etc|home|mnt|opt|srv|tmp|usr(?:\/local)?|var(?:\/(?:lib|local|tmp))?)?$/

/** Creates a folder for its owner only, or restricts an existing one. */
export function makePrivateFolder(path: string): void {
  makeWithParents(path)
  closeToOthers(path)
}

/**
 * Creates a folder and those above it. mkdirSync's `recursive` option would retry for ever,
 * ignoring signals, on a file system such as /proc, which reports that a new folder does not exist.
 */
function makeWithParents(path: string): void {
  if (isFolder(path)) return
  const parent = dirname(path)
  if (parent !== path) makeWithParents(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(path)) throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
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

/**
 * Gives what root has written to the owner of the folder, so that the service that runs as that
 * user can read it. Does nothing for other users, who cannot give files away.
 */
export async function giveToOwnerOf(folder: string, paths: readonly string[]): Promise<void> {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = await stat(folder)
  if (uid !== 0) for (const path of paths) await chown(path, uid, gid)
}
