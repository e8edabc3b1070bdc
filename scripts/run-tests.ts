/**
 * Runs the tests on one shared PostgreSQL. Arguments: test files or flags of `node --test`.
 *
 * A run of everything repeats the few files that failed, once and one by one: with a browser,
 * databases and killed processes on one busy machine, a test can starve. What passes only then is
 * named at the end; what fails twice is a failure.
 */
import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { startTestServer } from '../tests/support/postgres.ts'

/** More than this is no bad luck. */
const MOST_REPEATED = 4

const given = process.argv.slice(2)
const flags = given.filter((argument) => argument.startsWith('-'))
const named = given.filter((argument) => !argument.startsWith('-'))
const root = join(import.meta.dirname, '..')
const scratch = mkdtempSync(join(tmpdir(), 'tributary-tests-'))
const failures = join(scratch, 'failed')

const server = await startTestServer()
process.exitCode = await run().finally(async () => {
  await server.stop()
  rmSync(scratch, { recursive: true, force: true })
})

async function run(): Promise<number> {
  if (named.length > 0) return await runFiles(named, 2)
  const files = globSync('tests/**/*.test.ts').sort()
  // A browser keeps two cores busy; what has none mostly waits: for leases, vendors, processes.
  const code = await runFiles(
    files.filter((file) => !needsBrowser(file)),
    4,
  )
  const failed = [...failedFiles()]
  const browserCode = await runFiles(files.filter(needsBrowser), 2)
  failed.push(...failedFiles())
  if (code === 0 && browserCode === 0) return 0
  if (failed.length === 0 || failed.length > MOST_REPEATED) return 1
  say(`failed, and run once more: ${failed.join(', ')}`)
  const again = await runFiles(failed, 1)
  if (again === 0) say(`unsteady, passed only when repeated: ${failed.join(', ')}`)
  return again
}

async function runFiles(files: readonly string[], concurrency: number): Promise<number> {
  const reporters = ['--test-reporter=spec', '--test-reporter-destination=stdout']
  const collector = [`--test-reporter=${join(import.meta.dirname, 'failed-files.ts')}`]
  const collected = [...collector, `--test-reporter-destination=${failures}`]
  const options = [...reporters, ...collected, `--test-concurrency=${concurrency}`, ...flags]
  const child = spawn(process.execPath, ['--test', ...options, ...files], {
    stdio: 'inherit',
    env: {
      ...process.env,
      // Hundreds of processes load the same modules: stripped of types and compiled once.
      NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compile'),
      TEST_POSTGRES: JSON.stringify(server.place),
      // The shared server trades durability for speed; the gateway refuses such a server otherwise.
      TRIBUTARY_TEST_UNSAFE_DATABASE: '1',
    },
  })
  const stop = (signal: NodeJS.Signals) => child.kill(signal)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
  const code = await new Promise<number>((resolve) =>
    child.on('exit', (status) => resolve(status ?? 1)),
  )
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop)
  return code
}

function needsBrowser(file: string): boolean {
  return file.startsWith(join('tests', 'console'))
}

function failedFiles(): readonly string[] {
  const lines = readFileSync(failures, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((file) => relative(root, file))
}

function say(text: string): void {
  process.stdout.write(`\n== ${text}\n`)
}
