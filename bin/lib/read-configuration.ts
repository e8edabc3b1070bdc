/** Reads the files of `tributary apply`: a catalog, and accounts with their keys. */
import { readFileSync } from 'node:fs'
import { describeProblem } from '../../server/base/lib/text/describe-problem.ts'
import { findUnstorable } from '../../server/base/lib/text/well-formed.ts'
import { accountsFile, type FileAccount } from '../../server/money/accounts/account-file.ts'
import {
  CatalogError,
  type NamedCatalogFile,
  parseCatalogFile,
} from '../../server/money/catalog/apply/file.ts'
import { formatPath, substitute } from '../../server/money/catalog/environment.ts'
import { describeFileProblems, type Mistake } from '../../server/money/catalog/mistakes.ts'
import { findRepeatedName } from './repeated-names.ts'

export interface Configuration {
  readonly files: readonly NamedCatalogFile[]
  readonly accounts: readonly FileAccount[]
}

/** Throws CatalogError with every mistake in every file at once. */
export function readConfiguration(paths: readonly string[]): Configuration {
  const mistakes: Mistake[] = []
  const read = paths.flatMap((path) => {
    try {
      return [readOne(path)]
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error
      mistakes.push(...error.mistakes)
      return []
    }
  })
  if (mistakes.length > 0) throw new CatalogError(mistakes)
  return {
    files: read.map(({ catalog }) => catalog),
    accounts: read.flatMap(({ accounts }) => accounts),
  }
}

function readOne(file: string) {
  const text = readText(file)
  const { accounts, rest } = separateAccounts(text)
  const mistakes: Mistake[] = []
  const catalog = collectMistakes(mistakes, () => parseCatalogFile(file, rest, process.env))
  const read = collectMistakes(mistakes, () => parseAccounts(file, accounts))
  if (!catalog || !read) throw new CatalogError(mistakes)
  return { catalog, accounts: read }
}

function collectMistakes<T>(mistakes: Mistake[], read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    mistakes.push(...error.mistakes)
    return undefined
  }
}

/** Returns a text that is not an object as it is: the catalog's own check names the mistake. */
function separateAccounts(text: string): { readonly accounts: unknown; readonly rest: string } {
  try {
    const { accounts = [], ...rest } = JSON.parse(text)
    return { accounts, rest: JSON.stringify(rest) }
  } catch {
    return { accounts: [], rest: text }
  }
}

function parseAccounts(file: string, raw: unknown): readonly FileAccount[] {
  const mistakes: Mistake[] = []
  const value = substitute(raw, process.env, (path, name) => {
    const problem = `the environment variable ${name} is not set`
    mistakes.push({ file, path: formatPath(['accounts', ...path]), problem })
  })
  const broken = findUnstorable(value)
  if (broken) {
    const path = formatPath(['accounts', ...broken.path])
    throw new CatalogError([{ file, path, problem: broken.problem }])
  }
  const parsed = accountsFile.safeParse(value, { error: describeProblem })
  if (!parsed.success) mistakes.push(...describeFileProblems(file, parsed.error, ['accounts']))
  if (!parsed.success || mistakes.length > 0) throw new CatalogError(mistakes)
  return parsed.data
}

/**
 * Returns the text of a file of JSON. Throws CatalogError if it cannot be read, or if its meaning
 * is ambiguous.
 */
export function readText(file: string): string {
  const text = decode(file, readBytes(file))
  const repeated = isJson(text) ? findRepeatedName(text) : undefined
  if (!repeated) return text
  throw new CatalogError([{ file, path: formatPath(repeated), problem: 'appears twice' }])
}

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const problem = code === 'ENOENT' ? 'there is no such file' : `cannot be read (${code})`
    throw new CatalogError([{ file, path: '', problem }])
  }
}

/** Removes the byte order mark, with which some editors begin a text. */
function decode(file: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    const problem = 'the file is not UTF-8: save it as UTF-8 first'
    throw new CatalogError([{ file, path: '', problem }])
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
