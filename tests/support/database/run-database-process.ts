/** Starts `database-process.ts` and reads what it says. */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { untilEnded } from '../until.ts'

const SCRIPT = join(import.meta.dirname, 'database-process.ts')

interface Said {
  readonly ready?: string
  readonly refused?: string
  readonly progress?: string
  readonly trouble?: string
  readonly why?: string
}

export interface DatabaseProcess {
  readonly pid: number
  /** When the server it is connected to was started. */
  readonly ready: string | undefined
  readonly refused: string | undefined
  readonly said: readonly Said[]
  /** Resolves with the exit code. */
  readonly close: () => Promise<number>
  readonly kill: () => Promise<void>
}

const running = new Map<ChildProcess, Promise<unknown>>()

/** For the end of a test that failed before it closed what it had started. */
export async function killLeftProcesses(): Promise<void> {
  for (const [child, exited] of running) {
    child.kill('SIGKILL')
    await exited
  }
}

/** Resolves when the process is ready or has given up. */
export async function runDatabaseProcess(
  dataDir: string,
  role: 'owner' | 'command',
  options: {
    readonly script?: string
    readonly env?: NodeJS.ProcessEnv
    readonly uid?: number
  } = {},
): Promise<DatabaseProcess> {
  const child = spawn(process.execPath, [options.script ?? SCRIPT, dataDir, role], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...options.env },
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  })
  const exited = untilEnded(child).finally(() => running.delete(child))
  running.set(child, exited)
  const said: Said[] = []
  const decided = Promise.withResolvers<Said>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message: Said = JSON.parse(line)
    said.push(message)
    if (message.ready ?? message.refused) decided.resolve(message)
  })
  const { ready, refused } = await Promise.race([
    decided.promise,
    exited.then(({ code }): Said => ({ refused: `it exited with ${code} and said nothing` })),
  ])
  const exit = async (): Promise<number> => {
    const { code } = await exited
    return typeof code === 'number' ? code : -1
  }
  return {
    pid: child.pid ?? 0,
    ready,
    refused,
    said,
    close() {
      child.stdin.end()
      return exit()
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
