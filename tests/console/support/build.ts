/** The console and the documentation as `npm start` builds them: once for all test files that want it. */
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../support/until.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const LOCK = join(ROOT, 'node_modules', '.console-build.lock')
const LOCK_STALE_MS = 120_000

let built: Promise<void> | undefined

/**
 * Builds when the sources have changed since the last build, and looks once for a process. Rejects
 * with what the build said.
 */
export function ensureConsole(): Promise<void> {
  built ??= build()
  return built
}

async function build(): Promise<void> {
  const lock = await takeLock()
  try {
    const script = join(ROOT, 'scripts', 'build.mjs')
    const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`they do not build:\n${stderr}`)
  } finally {
    closeSync(lock)
    rmSync(LOCK, { force: true })
  }
}

/** Test files run beside each other: one builds, the others wait. */
function takeLock(): Promise<number> {
  const tryLock = () => {
    try {
      return openSync(LOCK, 'wx')
    } catch {
      const age = Date.now() - (statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
      if (age > LOCK_STALE_MS) rmSync(LOCK, { force: true })
      return undefined
    }
  }
  return until('the build', tryLock, 2 * LOCK_STALE_MS)
}
