// The vendors of a demo, as a process of their own: they outlive a gateway that is killed, as real
// vendors do, and end by themselves when no gateway comes back. What both know stands in a note.
import { readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'

interface Note {
  pid: number
  url: string
  /** The process of the gateway; another one that takes over writes its own. */
  gateway: number
}

/** The note is touched this often: its age tells whether its writer still runs. */
const BEAT_MS = 1_000
const LEFT_MS_MAX = 5 * 60_000

/** Calls `end` when the note is gone or somebody else's, or its gateway for five minutes. */
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
    // It has just been removed: the next beat ends.
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
