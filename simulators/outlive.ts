// Runs the vendors of a demo in their own process: they outlive a killed gateway, as real vendors
// do, and exit if no gateway returns. Both share a note on disk.
import { readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'

interface Note {
  pid: number
  url: string
  /** The pid of the gateway; a gateway that takes over writes its own. */
  gateway: number
}

/** The note is touched at this interval: its age shows whether its writer still runs. */
const BEAT_MS = 1_000
const LEFT_MS_MAX = 5 * 60_000

/**
 * Calls `end` if the note is gone or another process's, or its gateway is gone for five minutes.
 */
export function outliveGateway(path: string, note: Omit<Note, 'pid'>, end: () => void): void {
  writeFileSync(`${path}.new`, JSON.stringify({ ...note, pid: process.pid }), { mode: 0o600 })
  renameSync(`${path}.new`, path)
  let leftAt: number | undefined
  const timer = setInterval(() => {
    const found = read(path)
    const isOurs = found?.pid === process.pid
    leftAt = found && isAlive(found.gateway) ? undefined : (leftAt ?? Date.now())
    const isLeft = leftAt !== undefined && Date.now() - leftAt > LEFT_MS_MAX
    if (isOurs && !isLeft) return touch(path)
    clearInterval(timer)
    if (isOurs) rmSync(path, { force: true })
    end()
  }, BEAT_MS)
}

function read(path: string): Note | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

function touch(path: string): void {
  const now = new Date()
  try {
    utimesSync(path, now, now)
  } catch {
    // The note has just been removed: the next beat ends.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
