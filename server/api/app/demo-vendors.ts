/**
 * The simulated vendors of a demo, in their own process: a killed gateway finds them again,
 * together with the tasks that it had submitted, as it would find real vendors.
 */
import { spawn } from 'node:child_process'
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { asString, member, tryParseJson } from '../../base/lib/json.ts'
import { OperatorError } from '../../base/lib/operator-error.ts'

const PROGRAM = join(import.meta.dirname, '..', '..', '..', 'simulators', 'main.ts')
const NOTE = 'simulators.json'
/** The simulators touch the file every second, but may be busy for a while. */
const NOTE_AGE_MS_MAX = 10_000
const START_MS_MAX = 20_000
const STOP_MS_MAX = 3_000
const POLL_INTERVAL_MS = 20

export interface DemoVendors {
  readonly url: string
  /** Stops them, unless another gateway on the same folder uses them. Never rejects. */
  stop(): Promise<void>
}

interface Note {
  readonly pid: number
  readonly url: string
  readonly gateway: number
}

/** Finds the vendors left by an earlier gateway on this folder, or starts new ones. */
export async function runVendors(dataDir: string, port: number): Promise<DemoVendors> {
  const path = join(dataDir, NOTE)
  const found = readNote(path)
  if (!found || !runs(path, found)) return start(path, port)
  if (found.gateway !== process.pid && isAlive(found.gateway)) {
    return { url: found.url, stop: async () => undefined }
  }
  writeFileSync(`${path}.new`, JSON.stringify({ ...found, gateway: process.pid }), { mode: 0o600 })
  renameSync(`${path}.new`, path)
  return { url: found.url, stop: () => stop(path, found) }
}

async function start(path: string, port: number): Promise<DemoVendors> {
  rmSync(path, { force: true })
  const options = ['--port', String(port), '--note', path, '--gateway', String(process.pid)]
  const child = spawn(process.execPath, [PROGRAM, ...options], { detached: true, stdio: 'ignore' })
  child.on('error', () => undefined)
  child.unref()
  for (
    let waitedMs = 0;
    waitedMs < START_MS_MAX && child.exitCode === null;
    waitedMs += POLL_INTERVAL_MS
  ) {
    const note = readNote(path)
    if (note && note.pid === child.pid) return { url: note.url, stop: () => stop(path, note) }
    await sleep(POLL_INTERVAL_MS)
  }
  child.kill()
  throw new OperatorError(`the simulated vendors did not start: run node ${PROGRAM} to see why`)
}

async function stop(path: string, { pid }: Note): Promise<void> {
  rmSync(path, { force: true })
  try {
    process.kill(pid, 'SIGTERM')
  } catch {
    // They have already exited.
  }
  for (let waitedMs = 0; waitedMs < STOP_MS_MAX && isAlive(pid); waitedMs += POLL_INTERVAL_MS) {
    await sleep(POLL_INTERVAL_MS)
  }
}

function readNote(path: string): Note | undefined {
  try {
    const found = tryParseJson(readFileSync(path))
    const url = asString(member(found, 'url'))
    const pid = Number(member(found, 'pid'))
    const gateway = Number(member(found, 'gateway'))
    return url && Number.isInteger(pid) && pid > 0 ? { url, pid, gateway } : undefined
  } catch {
    return undefined
  }
}

/** The pid alone is not enough: it may belong to another process by now. */
function runs(path: string, { pid }: Note): boolean {
  const { mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {}
  return isAlive(pid) && Date.now() - mtimeMs < NOTE_AGE_MS_MAX
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
