/**
 * Finds test files by name and sorts them by what they need, which their imports say: files of one
 * kind share processes, and a browser.
 */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const BROWSER = 'playwright-core'
const DATABASE = 'tests/support/postgres.ts'
/** Start gateways or servers that tests stop and kill. */
const PROCESSES = ['tests/support/gateway.ts', 'tests/support/database/own-postgres.ts']
const PROGRAMS = 'node:child_process'
/** Whoever starts the program takes its path from here. */
const PROGRAM = 'tests/support/processes.ts'
const IMPORT = /^(?:import|export)\s(?!type\s)[^'"]*?'([^']+)'|\bimport\(\s*'([^']+)'/gm

export interface SortedTests {
  /** Neither a database nor a process nor a browser. */
  readonly unit: readonly string[]
  /** A database, and the gateway inside the process of the test. */
  readonly inProcess: readonly string[]
  /** Processes to be started, stopped and killed. */
  readonly processes: readonly string[]
  readonly browser: readonly string[]
  /** Files of any kind that start the program as a process. */
  readonly starting: readonly string[]
}

type Kind = Exclude<keyof SortedTests, 'starting'>

/** Test files of paths from the root: files, folders or globs. Throws where one names none. */
export function findTests(places: readonly string[]): string[] {
  const found = places.flatMap((place) => {
    const isFolder = existsSync(place) && statSync(place).isDirectory()
    const files = globSync(isFolder ? join(place, '**', '*.test.ts') : place)
    if (files.length === 0) throw new Error(`no test is named ${place}`)
    return files
  })
  return [...new Set(found.map((file) => relative('', file)))].sort()
}

export function sortTests(files: readonly string[]): SortedTests {
  const known = new Map<string, readonly string[]>()
  const kinds = files.map((file) => {
    const modules = listModules(file, known)
    return { file, kind: kindOf(modules), isStarting: modules.has(PROGRAM) }
  })
  const of = (kind: Kind) => kinds.filter((one) => one.kind === kind).map(({ file }) => file)
  return {
    unit: of('unit'),
    inProcess: of('inProcess'),
    processes: of('processes'),
    browser: of('browser'),
    starting: kinds.filter((one) => one.isStarting).map(({ file }) => file),
  }
}

function kindOf(modules: ReadonlySet<string>): Kind {
  if (modules.has(BROWSER)) return 'browser'
  if (PROCESSES.some((name) => modules.has(name))) return 'processes'
  if (modules.has(DATABASE)) return 'inProcess'
  return modules.has(PROGRAMS) ? 'processes' : 'unit'
}

/** The file, all modules that it reaches, and the names of packages. */
function listModules(
  file: string,
  known: Map<string, readonly string[]>,
  seen = new Set<string>(),
): ReadonlySet<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  if (!/\.tsx?$/.test(file)) return seen
  const imports = known.get(file) ?? readImports(file)
  known.set(file, imports)
  for (const name of imports) listModules(name, known, seen)
  return seen
}

function readImports(file: string): readonly string[] {
  if (!existsSync(file)) return []
  return [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, from, called]) => {
    const name = from ?? called ?? ''
    return name.startsWith('.') ? join(dirname(file), name) : name
  })
}
