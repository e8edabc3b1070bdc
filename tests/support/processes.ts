/** Child processes as tests need them: their output kept, their end awaited, none left behind. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type Exit, untilEnded } from './until.ts'

/**
 * The program. A run of many tests bundles it; tests of installations start what is in the tree.
 */
export const PROGRAM =
  process.env.TEST_PROGRAM ?? join(import.meta.dirname, '..', '..', 'bin', 'tributary.ts')

/**
 * What a program under test takes over from this process: nothing of its configuration, and the
 * folder for its temporary files.
 */
export function programEnvironment(): NodeJS.ProcessEnv {
  const { PATH, TMPDIR } = process.env
  return { PATH, TMPDIR }
}

const LOG_LENGTH_MAX = 1_000_000

export interface RunningProcess {
  readonly pid: number
  /** Everything it wrote to both streams, the newest megabyte of it. */
  log(): string
  readonly exited: Promise<Exit>
  hasExited(): boolean
  signal(name: NodeJS.Signals): void
  /** SIGTERM, and SIGKILL when that has not helped within `graceMs`. */
  stop(graceMs?: number): Promise<Exit>
}

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
// A signal ends a process without its exit handlers, and would leave the children behind.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

/** Starts `command`. Its exit code is the caller's business; a command that is not there throws. */
export async function startProcess(
  command: readonly [string, ...string[]],
  options: { readonly env?: NodeJS.ProcessEnv; readonly cwd?: string } = {},
): Promise<RunningProcess> {
  const [file, ...args] = command
  const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  await once(child, 'spawn')
  running.add(child)
  let log = ''
  const keep = (text: string) => {
    log = (log + text).slice(-LOG_LENGTH_MAX)
  }
  child.stdout.setEncoding('utf8').on('data', keep)
  child.stderr.setEncoding('utf8').on('data', keep)
  const exited = untilEnded(child).finally(() => running.delete(child))
  return {
    pid: child.pid ?? 0,
    log: () => log,
    exited,
    hasExited: () => !running.has(child),
    signal: (name) => child.kill(name),
    async stop(graceMs = 120_000) {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
      const exit = await exited
      clearTimeout(timer)
      return exit
    },
  }
}
