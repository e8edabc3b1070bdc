/**
 * Proves that the price proof detects small mistakes: makes one after another in a copy of the tree
 * and runs the checks that must fail. `npm run prove:mutations -- [--only 1,2] [--cases 1200]
 * [--seed N]`. With `--only` the results keep what was found of the other mistakes, with its date.
 */

import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions } from '../../../testbed/options.ts'
import { readConditions, report } from '../../../testbed/results.ts'
import { MUTATIONS, type Mutation } from './mutation-list.ts'

const values = readOptions(import.meta.filename, {
  cases: { type: 'string', default: '1200' },
  seed: { type: 'string', default: '20261122' },
  only: { type: 'string' },
})
const { cases, seed, only } = values
const ROOT = join(import.meta.dirname, '..', '..', '..')
const FOLDERS = [
  'server',
  'bin',
  'catalog',
  'migrations',
  'simulators',
  'tests',
  'proofs',
  'testbed',
]
const FILES = ['package.json', 'tsconfig.json', 'scripts/run-tests.ts', 'scripts/tests']
const TEXT_LENGTH_MAX = 160

interface Outcome {
  readonly mutation: Mutation
  readonly date: string
  readonly noticed: boolean
  readonly failed: string
}

const RESULTS = join(ROOT, 'benchmarks', 'results', 'mutations.json')
const command = `npm run prove:mutations -- --cases ${cases} --seed ${seed}`
const conditions = readConditions(only === undefined ? command : `${command} --only ${only}`)
const earlier = readEarlier()
const copy = copyTree()
try {
  await checkUnchanged()
  const outcomes: Outcome[] = []
  const places = only?.split(',').map(Number)
  for (const [index, mutation] of MUTATIONS.entries()) {
    if (places && !places.includes(index + 1)) {
      outcomes.push(...findEarlier(mutation))
      continue
    }
    const outcome = await tryMutation(mutation)
    console.log(describe(outcome).join('\n'))
    outcomes.push(outcome)
  }
  reportResults(outcomes)
  if (outcomes.some(({ noticed }) => !noticed)) process.exitCode = 1
} finally {
  rmSync(copy, { recursive: true, force: true })
}

/** Returns the recorded outcome of the same mistake. */
function findEarlier(mutation: Mutation): Outcome[] {
  return earlier.flatMap(({ noticed, failed, date, ...known }) => {
    const isSame = known.find === mutation.find && known.replace === mutation.replace
    return isSame ? [{ mutation, noticed, failed, date }] : []
  })
}

function readEarlier(): (Mutation & Omit<Outcome, 'mutation'>)[] {
  if (only === undefined) return []
  const { date, mutations } = JSON.parse(readFileSync(RESULTS, 'utf8'))
  return mutations.map((one: object) => ({ date, ...one }))
}

function copyTree(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-mutations-'))
  for (const name of [...FOLDERS, ...FILES]) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/** Requires that the checks pass without any mistake. */
async function checkUnchanged(): Promise<void> {
  for (const mutation of MUTATIONS) applyTo(mutation)
  const { code, text } = await run(proofCommand())
  if (code !== 0) throw new Error(`the proof fails without a mistake:\n${text.slice(-4_000)}`)
}

/** Returns the mutated text of the file. Throws if the patch does not apply. */
function applyTo({ file, find, replace }: Mutation): string {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const parts = text.split(find)
  if (parts.length !== 2) {
    throw new Error(`${file}: stands ${parts.length - 1} times, must stand once:\n${find}`)
  }
  return parts.join(replace)
}

async function tryMutation(mutation: Mutation): Promise<Outcome> {
  const target = join(copy, mutation.file)
  writeFileSync(target, applyTo(mutation))
  const { code, text } = await run(commandOf(mutation))
  cpSync(join(ROOT, mutation.file), target)
  // The proof must report an exception: a run that ends by itself has detected nothing.
  const isNamed = mutation.tests !== undefined || / × /.test(text)
  const noticed = code !== 0 && isNamed
  return { mutation, date: new Date().toISOString(), noticed, failed: findFailure(text) }
}

function commandOf({ tests, first }: Mutation): readonly string[] {
  return tests ? testCommand(tests) : proofCommand(first)
}

function proofCommand(first = 0): readonly string[] {
  const main = join('proofs', 'prices', 'main.ts')
  return [
    main,
    '--quiet',
    '--until-break',
    '--cases',
    cases,
    '--seed',
    seed,
    '--first',
    String(first),
  ]
}

function testCommand(files: readonly string[]): readonly string[] {
  return [join('scripts', 'run-tests.ts'), ...files]
}

function run(args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: copy, stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    const keep = (chunk: Buffer) => {
      text += chunk.toString()
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.on('close', (code) => resolve({ code: code ?? 1, text }))
  })
}

/** Returns the first exception of the proof, the failed tests, or the error that ended it. */
function findFailure(text: string): string {
  const lines = text.split('\n')
  const exception = lines.find((line) => / × /.test(line))
  const failed = new Set(lines.filter((line) => /^\s*✖ /.test(line)).map(nameOf))
  const names = [...failed].filter((name) => name !== 'failing tests:').slice(0, 3)
  const error = lines.find((line) => /Error: /.test(line)) ?? 'nothing'
  const found = exception ?? (names.length > 0 ? names.join('; ') : error)
  return found.trim().slice(0, TEXT_LENGTH_MAX)
}

function nameOf(line: string): string {
  return line.replace(/^\s*✖ /, '').replace(/ \([\d.]+ms\)$/, '')
}

function describe({ mutation, date, noticed, failed }: Outcome): string[] {
  const { rule, mistake, tests } = mutation
  const by = tests ? tests.join(', ') : 'prove:prices'
  return [
    `${noticed ? 'noticed' : 'NOT NOTICED'}  ${rule}`,
    `    mistake: ${mistake}`,
    `    by ${by}, ${date.slice(0, 10)}: ${failed}`,
  ]
}

function reportResults(outcomes: readonly Outcome[]): void {
  const noticed = outcomes.filter((one) => one.noticed).length
  const rows = outcomes.map(({ mutation, ...rest }) => ({ ...mutation, ...rest }))
  const untried = MUTATIONS.length - outcomes.length
  const left = untried === 0 ? '' : `; ${untried} more are listed and not yet tried`
  const lines = [
    `${noticed} of ${outcomes.length} mistakes were noticed; without one the proof passes${left}`,
    '',
    ...outcomes.flatMap(describe),
  ]
  report('mutations', conditions, { noticed, mutations: rows }, lines)
}
