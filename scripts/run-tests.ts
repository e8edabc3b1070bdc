/**
 * Runs the tests on one PostgreSQL; `--help` says how to choose some. A failed test is never
 * repeated: a flaky test is a fault of the test or of the code.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { freemem, tmpdir, totalmem } from 'node:os'
import { join, relative } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import { HELP, readArguments } from './tests/read-arguments.ts'
import { describeFailures, type Failure } from './tests/report.ts'
import { BROWSER_SUITE, type Share, shareProcesses } from './tests/share-processes.ts'
import { findTests, sortTests } from './tests/sort-tests.ts'

const ROOT = join(import.meta.dirname, '..')
/**
 * Files that change what is global in their process: its variables, its standard output, its
 * tracer. All others may share one.
 */
const ALONE = new Set([
  'tests/assets/sound/convert-sound.test.ts',
  'tests/database/older-postgres.test.ts',
  'tests/log.test.ts',
  'tests/metrics/metrics.test.ts',
  'tests/run-tests.test.ts',
  'tests/tracing/gen-ai.test.ts',
  'tests/tracing/tracing.test.ts',
])
/** A file system in memory, and what has to be free of it. */
const MEMORY = '/dev/shm'
const MEMORY_FREE_MIN = 3 * 1024 ** 3
const PREFIX = 'tributary-tests-'
/** Files for each process: fewer where each takes long. */
const FILES_MAX = { unit: 64, gateway: 18, process: 6, browser: 6 }
/** To bundle the program takes as long as five starts of it save. */
const BUNDLED_FILES_MIN = 5
/**
 * A process that takes longer is considered hung: it is killed and counts as failed, in time for
 * the run to say so. The longest takes 300 s on two cores.
 */
const FILE_MS_MAX = 900_000
/** Started first, each in its own process, so that none of them delays the end of the run. */
const LONGEST = new Set([
  'tests/ledger/random-workload.test.ts',
  'tests/admin/matrix-tokens.test.ts',
  'tests/admin/matrix-ids.test.ts',
  'tests/endpoints/audio/transcriptions-by-recognition.test.ts',
  'tests/console/silent.test.ts',
  'tests/console/operator.test.ts',
])
/** Lines of stderr that are kept of each process, for one that fails by itself. */
const STDERR_LINES_MAX = 20
/**
 * For two cores: a process keeps one busy for a quarter of its time, and waits for leases, pages
 * and other processes for the rest. Each may have two gateways and a browser.
 */
const CONCURRENCY = { most: 7, bytesEach: 1024 ** 3 }
/**
 * Fewer collections of short-lived garbage while the modules load, which saves a fifth of the time;
 * one helper thread of the engine for each process, as the processes keep all cores busy; and an
 * end after the last test, even if a failed one has left a server running.
 */
const NODE_FLAGS = [
  '--min-semi-space-size=32',
  '--v8-pool-size=1',
  '--test-force-exit',
  `--import=${pathToFileURL(join(import.meta.dirname, 'tests', 'prepare-process.mjs'))}`,
]

/** Restricts the clients of a run by rows. */
const HOOK = join(ROOT, 'tests', 'shards', 'rows', 'hook-client.mjs')

process.chdir(ROOT)
/** Aborts when nobody reads the output any more, as after `| head`. */
const unread = new AbortController()
process.stdout.on('error', () => unread.abort())
const { chosen, files } = readCommand()
process.exitCode = chosen.isHelp ? 0 : await runAll()

/** Exits with a message if the arguments are invalid. */
function readCommand() {
  try {
    const chosen = readArguments(process.argv.slice(2))
    if (chosen.isHelp) process.stdout.write(HELP)
    return { chosen, files: findTests(chosen.places.length === 0 ? ['tests'] : chosen.places) }
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    return process.exit(2)
  }
}

async function runAll(): Promise<number> {
  const sorted = sortTests(files)
  const scratch = makeScratch()
  const isBundled = !chosen.isUnit && sorted.starting.length >= BUNDLED_FILES_MIN
  const bundling = isBundled ? bundle() : undefined
  // Its failure is thrown where it is awaited, with a server that can be stopped.
  bundling?.catch(() => undefined)
  const stop = chosen.isUnit ? undefined : await startDatabase()
  const outcome: Outcome = {
    failed: new Set(),
    failures: [],
    durations: new Map(),
    isAborted: false,
  }
  try {
    await bundling
    const share = (name: keyof typeof FILES_MAX, of: readonly string[]) =>
      shareProcesses(scratch, name, of.filter(isSharing), FILES_MAX[name])
    const unit = share('unit', sorted.unit)
    if (chosen.isUnit) {
      await runShares(unit, outcome)
      return report(outcome, sorted.unit.length)
    }
    // From the end of the alphabet: `tasks` waits longest, and what is left at the end is short.
    const mixed = mix(
      share('browser', sorted.browser),
      share('gateway', sorted.inProcess).toReversed(),
      share('process', sorted.processes).toReversed(),
      files.filter((file) => ALONE.has(file)).map(alone),
      unit,
    )
    const longest = files.filter((file) => LONGEST.has(file))
    await runShares([...longest.map(alone), ...mixed], outcome)
    return report(outcome)
  } finally {
    await stop?.()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/**
 * The temporary folder of the run: whatever a killed gateway or server leaves there goes with it.
 * Open to all users, as some tests start programs as another; a short name, as sockets need.
 */
function makeScratch(): string {
  const folder = makeInMemory() ?? mkdtempSync(join(tmpdir(), PREFIX))
  chmodSync(folder, 0o1777)
  process.env.TMPDIR = folder
  return folder
}

/** In memory a database is made and dropped for a fifth of what a disk's file system takes. */
function makeInMemory(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    if (Math.min(bavail * bsize, freemem()) < MEMORY_FREE_MIN) return undefined
    const folder = mkdtempSync(join(MEMORY, PREFIX))
    const program = join(folder, 'program')
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
    // Containers often mount it so that nothing there can be executed, as some tests do.
    if (spawnSync(program).status === 0) return folder
    rmSync(folder, { recursive: true })
  } catch {
    // Not every system has such a folder.
  }
  return undefined
}

function isSharing(file: string): boolean {
  return !LONGEST.has(file) && !ALONE.has(file)
}

/** Spreads each of the lists over the whole run: what waits, and what keeps the cores busy. */
function mix(...lists: readonly (readonly Share[])[]): Share[] {
  return lists
    .flatMap((list) => list.map((share, at) => ({ share, place: at / list.length })))
    .sort((one, other) => one.place - other.place)
    .map(({ share }) => share)
}

function alone(file: string): Share {
  return { path: join(ROOT, file), files: [file] }
}

/** Starts the server for all tests. Returns the function that stops it. */
async function startDatabase(): Promise<() => Promise<void>> {
  const { allowFastServer, startTestServer } = await import('../tests/support/postgres.ts')
  // Tests that start servers of their own read it too.
  if (chosen.postgres !== undefined) process.env.TEST_POSTGRES_CHOICE = chosen.postgres
  const prepare = chosen.isByRows
    ? (await import('../tests/shards/rows/policies.ts')).installPolicies
    : undefined
  const server = await startTestServer({ prepare })
  process.env.TEST_POSTGRES = JSON.stringify(server.place)
  allowFastServer()
  return () => server.stop()
}

/** Bundles the program, for all tests that start it as a process. */
async function bundle(): Promise<void> {
  const { bundleProgram } = await import('./tests/bundle-program.ts')
  process.env.TEST_PROGRAM = await bundleProgram()
}

/** The result of a run: what failed, and the duration of each process. */
interface Outcome {
  readonly failed: Set<string>
  readonly failures: Failure[]
  readonly durations: Map<string, number>
  isAborted: boolean
}

/** Runs the modules in order, some at a time. */
async function runShares(shares: readonly Share[], outcome: Outcome) {
  if (shares.length === 0) return
  // Hundreds of processes load the same modules: stripped of types and compiled once.
  process.env.NODE_COMPILE_CACHE = join(ROOT, 'node_modules', '.cache', 'compile')
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  // A terminal sends it to the runner and to npm, which passes it on: a second one changes nothing,
  // so that the server of the run is stopped in any case.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
  const events = run({
    files: shares.map(({ path }) => path),
    concurrency: chosen.concurrency ?? countAtOnce(),
    execArgv: chosen.isByRows ? [...NODE_FLAGS, `--import=${pathToFileURL(HOOK)}`] : NODE_FLAGS,
    timeout: FILE_MS_MAX,
    signal: AbortSignal.any([stopping.signal, unread.signal]),
    testNamePatterns: chosen.names.map((name) => new RegExp(name)),
  })
  const stderr = new Map<string, string[]>()
  events.on('test:stderr', ({ file, message }) => {
    stderr.set(file, [...(stderr.get(file) ?? []), message.trimEnd()].slice(-STDERR_LINES_MAX))
  })
  events.on('test:fail', ({ file, name, details }) => {
    // A suite fails with its tests, which are named themselves.
    const { error } = details
    const isSuite = 'failureType' in error && error.failureType === 'subtestsFailed'
    if (isSuite && name === BROWSER_SUITE) return
    const path = file ?? name
    const files = filesOf(shares, path, name)
    for (const one of files) outcome.failed.add(one)
    if (isSuite) return
    outcome.failures.push({
      file: nameOf(shares, path),
      ...(name === path
        ? { test: describeEnd(error), error: (stderr.get(path) ?? []).join('\n') }
        : { test: name, error: error.cause ?? error }),
    })
  })
  events.on('test:summary', ({ file, duration_ms }) => {
    if (file) outcome.durations.set(nameOf(shares, file), duration_ms)
  })
  for await (const text of events.compose(spec)) process.stdout.write(text)
  outcome.isAborted ||= stopping.signal.aborted || unread.signal.aborted
}

function countAtOnce(): number {
  return Math.max(2, Math.min(CONCURRENCY.most, Math.floor(totalmem() / CONCURRENCY.bytesEach)))
}

/** Why a process failed without a failed test. */
function describeEnd(error: Error): string {
  const { exitCode, signal } = error as { exitCode?: number | null; signal?: string | null }
  if (exitCode == null && signal == null) return `its process: ${error.message}`
  return `its process ended with ${signal ?? `exit code ${exitCode}`}`
}

/** The test files that a failure concerns: all of a process where it is the process that failed. */
function filesOf(shares: readonly Share[], path: string, name: string): readonly string[] {
  const share = shares.find((one) => one.path === path)
  if (!share) return [relative(ROOT, path)]
  return share.files.includes(name) ? [name] : share.files
}

function nameOf(shares: readonly Share[], path: string): string {
  const [first, ...others] = shares.find((one) => one.path === path)?.files ?? []
  return others.length > 0 ? `${first} to ${others.at(-1)}` : (first ?? relative(ROOT, path))
}

/** Prints what failed, and why at the very end. Returns the exit code. */
function report(outcome: Outcome, count = files.length): number {
  const { failed, failures, durations, isAborted } = outcome
  const slowest = [...durations].sort(([, one], [, other]) => other - one).slice(0, chosen.slowest)
  for (const [name, ms] of slowest) say(`${(ms / 1000).toFixed(1)} s ${name}`)
  const minutes = (performance.now() / 60_000).toFixed(1)
  if (failed.size > 0) {
    say(`${failed.size} of ${count} files failed in ${minutes} minutes; run them again with`)
    process.stdout.write(`npm test -- ${[...failed].sort().join(' ')}\n\n`)
    process.stdout.write(`${describeFailures(failures)}\n`)
    return 1
  }
  say(isAborted ? 'interrupted' : `${count} files passed in ${minutes} minutes`)
  return isAborted ? 1 : 0
}

function say(text: string): void {
  process.stdout.write(`\n== ${text}\n`)
}
