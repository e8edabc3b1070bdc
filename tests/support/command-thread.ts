/**
 * A thread that runs commands one after another, as `bin/tributary.ts` does each in a process of its
 * own: with their environment, what they print, their exit code, and their end only when nothing of
 * theirs is open any more. What they load is loaded once.
 */
import { parentPort } from 'node:worker_threads'
import { runCommandLine } from '../../bin/lib/run.ts'
import { until } from './until.ts'

export interface Order {
  readonly words: readonly string[]
  readonly environment: NodeJS.ProcessEnv
}

parentPort?.on('message', async ({ words, environment }: Order) => {
  const open = countOpen()
  for (const name of Object.keys(process.env)) delete process.env[name]
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined) process.env[name] = value
  }
  const [out, err] = [capture(process.stdout), capture(process.stderr)]
  process.exitCode = 0
  const code = await runCommandLine(words)
  await until('the end of the command', () => countOpen() <= open)
  parentPort?.postMessage({ code, out: out(), err: err() })
})

/** Counts what would keep the process of a command alive. */
function countOpen(): number {
  return process.getActiveResourcesInfo().length
}

/** Returns what is written from now on. */
function capture(stream: NodeJS.WriteStream): () => string {
  const chunks: Buffer[] = []
  stream.removeAllListeners('error')
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    chunks.push(Buffer.from(chunk as string))
    const done = rest.at(-1)
    if (typeof done === 'function') process.nextTick(done)
    return true
  }
  return () => Buffer.concat(chunks).toString()
}
