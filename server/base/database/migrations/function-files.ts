/** SQL functions in files beside their callers, applied again whenever their file changes. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TransactionSql } from 'postgres'
import { DatabaseProblem } from '../problem.ts'
import { isUnavailable } from '../unavailable.ts'
import { type FunctionFile, readAppliedFiles, runFunctionFile } from './function-store.ts'

/** For example `ledger/sql/take.sql`; the folder may move within the server. */
const PATH = /(?:^|\/)([a-z-]+)\/sql\/([a-z-]+\.sql)$/
const FIRST_LINE = /^-- revision ([1-9]\d*)$/m

/** Returns the files of functions below a folder, ordered by name. */
export function readFunctionFiles(folder: string): readonly FunctionFile[] {
  if (!existsSync(folder)) return []
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((path) => {
    const [, owner, file] = PATH.exec(path) ?? []
    return owner && file ? [readFile(join(folder, path), `${owner}/${file}`)] : []
  })
  const names = new Set(files.map(({ name }) => name))
  if (names.size < files.length) throw new Error('two files of functions have the same name')
  return files.toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

function readFile(path: string, name: string): FunctionFile {
  const text = readFileSync(path, 'utf8')
  const revision = Number(FIRST_LINE.exec(text.slice(0, text.indexOf('\n')))?.[1])
  if (!revision) throw new Error(`${path} does not begin with "-- revision N"`)
  return { name, revision, text, sha256: createHash('sha256').update(text).digest('hex') }
}

/**
 * Returns the files that differ from those applied last. A file of a lower revision is that of an
 * older version, whose gateways work with the newer functions: it is left alone.
 */
export async function findChangedFiles(
  transaction: TransactionSql,
  files: readonly FunctionFile[],
): Promise<readonly FunctionFile[]> {
  if (files.length === 0) return []
  const known = await readAppliedFiles(transaction)
  return files.filter(({ name, revision, sha256 }) => {
    const last = known.get(name)
    if (!last || last.revision < revision) return true
    return last.revision === revision && last.sha256 !== sha256
  })
}

/** Applies files, all or none. Returns their names. */
export async function applyFunctionFiles(
  transaction: TransactionSql,
  changed: readonly FunctionFile[],
): Promise<readonly string[]> {
  for (const file of changed) {
    await runFunctionFile(transaction, file).catch((error: unknown) => explain(file, error))
  }
  return changed.map(({ name }) => name)
}

function explain({ name, revision }: FunctionFile, error: unknown): never {
  if (isUnavailable(error)) throw error
  const why = error instanceof Error ? error.message : String(error)
  throw new DatabaseProblem(
    `the functions of ${name}, revision ${revision}, cannot be applied (${why}): the database ` +
      'keeps those that it has. Start the previous version, or one that corrects the file',
    error,
  )
}
