/** Reads catalog files and reports every mistake with its file and path. */

import { OperatorError } from '../../../base/lib/operator-error.ts'
import { describeProblem } from '../../../base/lib/text/describe-problem.ts'
import { findUnstorable } from '../../../base/lib/text/well-formed.ts'
import { type Environment, formatPath, substitute } from '../environment.ts'
import { describeFileProblems, type Mistake } from '../mistakes.ts'
import { type CatalogFile, catalogFile } from './file-schema.ts'

export class CatalogError extends OperatorError {
  readonly mistakes: readonly Mistake[]

  constructor(mistakes: readonly Mistake[]) {
    super(mistakes.map(formatMistake).join('\n'))
    this.name = 'CatalogError'
    this.mistakes = mistakes
  }
}

function formatMistake({ file, path, problem }: Mistake): string {
  return path === '' ? `${file}: ${problem}` : `${file}: ${path}: ${problem}`
}

export interface NamedCatalogFile {
  /** The file's name in messages. */
  readonly name: string
  readonly source: string
  readonly content: CatalogFile
}

/** Longest accepted file, in UTF-16 code units. */
const TEXT_LENGTH_MAX = 16 * 1024 * 1024

/** Parses the text of one file. Throws CatalogError. */
export function parseCatalogFile(
  file: string,
  text: string,
  environment: Environment,
): NamedCatalogFile {
  const mistakes: Mistake[] = []
  const raw = substitute(parseJson(file, text), environment, (path, name) => {
    const problem = `the environment variable ${name} is not set`
    mistakes.push({ file, path: formatPath(path), problem })
  })
  const broken = findUnstorable(raw)
  if (broken) {
    throw new CatalogError([{ file, path: formatPath(broken.path), problem: broken.problem }])
  }
  const parsed = catalogFile.safeParse(raw, { error: describeProblem })
  if (!parsed.success) mistakes.push(...describeFileProblems(file, parsed.error))
  if (!parsed.success || mistakes.length > 0) throw new CatalogError(mistakes)
  return { name: file, source: parsed.data.source ?? baseName(file), content: parsed.data }
}

function parseJson(file: string, text: string): unknown {
  if (text.length > TEXT_LENGTH_MAX) {
    throw new CatalogError([{ file, path: '', problem: 'larger than 16 MB' }])
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    const problem = `not valid JSON: ${error instanceof Error ? error.message : String(error)}`
    throw new CatalogError([{ file, path: '', problem }])
  }
}

function baseName(file: string): string {
  const last = file.split(/[/\\]/).at(-1) ?? file
  const plain = last.replace(/\.json$/i, '').replace(/[^A-Za-z0-9._-]/g, '-')
  return plain.slice(0, 64) || 'catalog'
}
