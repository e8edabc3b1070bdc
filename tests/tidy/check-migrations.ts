/**
 * Migrations: numbered without a gap, listed with their checksums, never edited. Files of
 * functions: listed with their checksums, edited with a new revision.
 */
import { createHash } from 'node:crypto'
import { basename } from 'node:path'

export interface MigrationFile {
  readonly path: string
  readonly text: string
}

const FILE_NAME = /^(\d{4})-[a-z0-9-]+\.sql$/
const ENTRY = /^([0-9a-f]{64}) {2}(\S+)$/

/**
 * Compares the files with the list, which has one line of SHA-256 and name for each. A released
 * file is in databases and backups under its checksum: only a new file can change the schema.
 */
export function checkMigrations(files: readonly MigrationFile[], list: string): string[] {
  const listed = new Map<string, string>()
  for (const line of list.trimEnd().split('\n')) {
    const [, sha256, name] = ENTRY.exec(line) ?? []
    if (!sha256 || !name) return [`migrations/checksums.txt has a line of another form: ${line}`]
    listed.set(name, sha256)
  }
  const names = files.map(({ path }) => basename(path)).sort()
  const misnumbered = names
    .filter((name, index) => Number(FILE_NAME.exec(name)?.[1]) !== index + 1)
    .slice(0, 1)
    .map((name) => `migrations/${name} breaks the numbers 0001, 0002, … without a gap`)
  const missing = [...listed.keys()]
    .filter((name) => !names.includes(name))
    .map((name) => `migrations/${name} is missing: restore it and add a new migration instead`)
  return [...misnumbered, ...missing, ...files.flatMap((file) => judgeFile(file, listed))]
}

const REVISION = /^([0-9a-f]{64}) {2}(\d+) {2}(\S+)$/
/** Functions of later migrations could only be conditions of tables. */
const LAST_WITH_FUNCTIONS = '0032'
const FUNCTION = /create (?:or replace )?function (?!is_)\w+/i

/** Returns functions that a migration defines instead of a file beside their callers. */
export function checkMigratedFunctions(files: readonly MigrationFile[]): string[] {
  return files
    .filter(
      ({ path, text }) => basename(path).slice(0, 4) > LAST_WITH_FUNCTIONS && FUNCTION.test(text),
    )
    .map(({ path }) => `${path} defines a function: define it in a file beside its callers`)
}

/**
 * Compares files of functions with the list, which has a line of SHA-256, revision and name for
 * each state that a file ever had: gateways tell the newer of two files by its revision.
 */
export function checkFunctionFiles(files: readonly MigrationFile[], list: string): string[] {
  const states = new Map<string, string[]>()
  for (const line of list.trimEnd().split('\n')) {
    const [, sha256 = '', revision, name = ''] = REVISION.exec(line) ?? []
    const known = states.get(name) ?? []
    if (Number(revision) !== known.length + 1)
      return [`migrations/functions.txt, out of order: ${line}`]
    states.set(name, [...known, sha256])
  }
  return files.flatMap(({ path, text }) => {
    const [owner, , file] = path.split('/').slice(-3)
    const name = `${owner}/${file}`
    const known = states.get(name) ?? []
    const sha256 = createHash('sha256').update(text).digest('hex')
    const stated = Number(/^-- revision (\d+)\n/.exec(text)?.[1])
    if (stated === known.length && sha256 === known.at(-1)) return []
    const next = known.length + 1
    return stated === next
      ? [`${path} is not listed: append "${sha256}  ${next}  ${name}" to migrations/functions.txt`]
      : [`${path} was edited: give it "-- revision ${next}"`]
  })
}

function judgeFile({ path, text }: MigrationFile, listed: ReadonlyMap<string, string>): string[] {
  const name = basename(path)
  const sha256 = createHash('sha256').update(text).digest('hex')
  const known = listed.get(name)
  if (known === sha256) return []
  return known === undefined
    ? [`${path} is not listed: append "${sha256}  ${name}" to migrations/checksums.txt`]
    : [`${path} was edited: restore its text and add a new migration instead`]
}
