/** Work that grows faster than what callers and vendors send. */
import { findAmbiguity } from '../linear/patterns/find-ambiguity.ts'
import { readPattern } from '../linear/patterns/read-pattern.ts'
import { lineOf, type SourceFile } from './read-tree.ts'

const UNBOUNDED = /[*+]|,\}/
const NORMALIZING = /\.normalize\(/g

/**
 * Normalization sorts each run of combining marks in the square of its length. Passwords have at
 * most a thousand characters.
 */
const MAY_NORMALIZE: ReadonlySet<string> = new Set([
  'server/base/lib/text/fold-forms.ts',
  'server/api/sign-in/password-hashes.ts',
])

/** Literals; `tests/linear/` has those that are built from text. */
export function checkPatterns(sources: readonly SourceFile[]): string[] {
  return ofServer(sources).flatMap(({ path, text, masked }) => {
    return masked.strings
      .filter(({ opening, text: source }) => opening === '/' && UNBOUNDED.test(source))
      .flatMap(({ start, text: source }) => {
        const [flags = ''] = /^[a-z]*/.exec(text.slice(start + source.length + 2)) ?? []
        const problem = judgePattern(source, flags)
        return problem ? [`${path}:${lineOf(text, start)} /${source}/${flags} ${problem}`] : []
      })
  })
}

/** Returns what is wrong with a regular expression. */
export function judgePattern(source: string, flags: string): string | undefined {
  try {
    const word = findAmbiguity(readPattern(source, flags))
    return word === undefined
      ? undefined
      : `is not linear in repetitions of ${JSON.stringify(word)}`
  } catch (error) {
    return `cannot be proved linear: it has ${error instanceof Error ? error.message : error}`
  }
}

export function checkNormalizing(sources: readonly SourceFile[]): string[] {
  return ofServer(sources)
    .filter(({ path }) => !MAY_NORMALIZE.has(path))
    .flatMap(({ path, masked: { code } }) =>
      [...code.matchAll(NORMALIZING)].map(({ index }) => `${path}:${lineOf(code, index)}`),
    )
}

function ofServer(sources: readonly SourceFile[]): SourceFile[] {
  return sources.filter(({ path }) => path.startsWith('server/'))
}
