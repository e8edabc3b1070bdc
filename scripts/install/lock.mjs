// Lets one process at a time install into a folder; others wait for it.
import { mkdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_MS = 200
const RENEW_MS = 1_000
/** The holder renews the lock each second: an older one belongs to a process that has ended. */
const STALE_MS = 15_000
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

/**
 * Calls `work` while this process holds the lock, which is a folder at `path`, and returns what it
 * returns. `onWait` is called once if another process holds the lock.
 */
export async function withLock(path, onWait, work) {
  await acquire(path, onWait)
  const renewing = setInterval(() => renew(path), RENEW_MS)
  const release = () => rmSync(path, { recursive: true, force: true })
  const interrupted = () => {
    release()
    process.exit(1)
  }
  for (const signal of SIGNALS) process.once(signal, interrupted)
  try {
    return await work()
  } finally {
    clearInterval(renewing)
    for (const signal of SIGNALS) process.off(signal, interrupted)
    release()
  }
}

async function acquire(path, onWait) {
  for (let tries = 0; !create(path); tries += 1) {
    if (tries === 0) onWait()
    if (isStale(path)) rmSync(path, { recursive: true, force: true })
    else await sleep(LOOK_MS)
  }
}

function create(path) {
  try {
    mkdirSync(path)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

function isStale(path) {
  const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
  return age > STALE_MS
}

function renew(path) {
  const now = new Date()
  try {
    utimesSync(path, now, now)
  } catch {
    // Removed by a process that took this one for dead: the installation itself is one rename.
  }
}
