/** Runs the command line against a database of the test's own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { Sql } from 'postgres'
import { createSecretKey } from '../../server/base/lib/secrets/secrets.ts'
import type { Order } from '../support/command-thread.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { PROGRAM, programEnvironment } from '../support/processes.ts'

export const ROOT = join(import.meta.dirname, '..', '..')

export interface Finished {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export type Run = (...words: string[]) => Promise<Finished>

export interface CommandLine {
  readonly sql: Sql
  readonly folder: string
  readonly environment: NodeJS.ProcessEnv
  readonly run: Run
  /** The same with --json; throws if the command fails. */
  // biome-ignore lint/suspicious/noExplicitAny: what a command prints is judged by the test
  readonly json: (...words: string[]) => Promise<any>
  /** Writes a file and returns its path. */
  readonly file: (name: string, content: object | string) => string
}

/** What a command tells about a busy machine, and not about itself. */
const WAITING = '… waiting for the database, which has not answered yet\n'
const withoutWaiting = (finished: Finished): Finished => {
  return { ...finished, err: finished.err.replace(WAITING, '') }
}

const THREAD = new URL('../support/command-thread.ts', import.meta.url)
const idle: Worker[] = []

/** Runs a command in a thread that has its modules: a process takes half a second to load them. */
export async function runWith(environment: NodeJS.ProcessEnv, words: readonly string[]) {
  const thread = idle.pop() ?? new Worker(THREAD)
  thread.ref()
  const gone = Promise.withResolvers<never>()
  const leave = () => gone.reject(new Error(`${words.join(' ')}: ended its process`))
  thread.once('exit', leave)
  try {
    thread.postMessage({ words, environment } satisfies Order)
    const [finished] = await Promise.race([once(thread, 'message'), gone.promise])
    idle.push(thread)
    return withoutWaiting(finished)
  } finally {
    thread.off('exit', leave)
    thread.unref()
  }
}

/** Runs a command as people do, in a process of its own. */
export function runProgram(
  environment: NodeJS.ProcessEnv,
  words: readonly string[],
  program = PROGRAM,
) {
  return new Promise<Finished>((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...words], { env: environment, cwd: ROOT })
    let out = ''
    let err = ''
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text) => {
      err += text
    })
    child.on('error', reject)
    child.on('close', (code) => resolve(withoutWaiting({ code, out, err })))
  })
}

export async function openCommandLine(context: Pick<TestContext, 'after'>): Promise<CommandLine> {
  const database = await createTestDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'tributary-cli-'))
  context.after(async () => {
    rmSync(folder, { recursive: true })
    await database.drop()
  })
  const environment = {
    ...programEnvironment(),
    HOME: folder,
    DATABASE_URL: database.url,
    DATA_DIR: folder,
    SECRET_KEY: createSecretKey(),
    TRIBUTARY_TEST_UNSAFE_DATABASE: '1',
  }
  const run: Run = (...words) => runWith(environment, words)
  return {
    sql: database.sql,
    folder,
    environment,
    run,
    async json(...words) {
      const { code, out, err } = await run(...words, '--json')
      if (code !== 0) throw new Error(`${words.join(' ')}: ${code} ${err}`)
      return JSON.parse(out)
    },
    file(name, content) {
      const path = join(folder, name)
      writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
      return path
    },
  }
}
