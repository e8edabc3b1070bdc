/** What may stand where in the text of a file. */
import { lineOf, type SourceFile } from './read-tree.ts'
import { FORBIDDEN_TEXT, VENDOR_ALLOWED, VENDOR_WORDS } from './rules.ts'

/** Reports every place where a pattern matches the code, comments and literals left out. */
function findInCode({ path, masked }: SourceFile, pattern: RegExp, what: string): string[] {
  return [...masked.code.matchAll(pattern)].map(
    ({ index }) => `${path}:${lineOf(masked.code, index)} ${what}`,
  )
}

const CLOCK =
  /\b(?:Date\.now|new Date\(\s*\)|set(?:Timeout|Interval|Immediate)|performance|process\.)/g

/** Dialects and adapters depend on their input alone: no clock, no timer, no environment. */
export function checkPurity(sources: readonly SourceFile[]): string[] {
  return sources
    .filter(({ path }) => /^server\/(?:wire\/dialects|wire\/upstreams)\//.test(path))
    .flatMap((source) => findInCode(source, CLOCK, 'reads a clock or the process'))
}

const SQL_PLACES = /^server\/base\/database\/|(?:^|[/-])store\.ts$/

/** A tagged template is SQL here, but for `html`; text that is put together as SQL is refused everywhere. */
export function checkSql(sources: readonly SourceFile[]): string[] {
  return sources
    .filter(({ path }) => path.startsWith('server/'))
    .flatMap((source) => {
      const unsafe = source.path.startsWith('server/base/database/')
        ? []
        : findInCode(source, /\bunsafe\s*\(/g, 'puts SQL together from text')
      return SQL_PLACES.test(source.path) ? unsafe : [...unsafe, ...findTagged(source)]
    })
}

function findTagged({ path, text, masked }: SourceFile): string[] {
  return masked.strings
    .filter(({ start }) => text.charAt(start) === '`' && /[\w$>)]$/.test(text.slice(0, start)))
    .filter(({ start }) => !/\b(?:html|raw|return|typeof|case|in|of)$/.test(text.slice(0, start)))
    .map(({ start }) => `${path}:${lineOf(text, start)} has SQL outside a store file`)
}

const VENDOR_PLACES = /^server\/(?:wire\/upstreams\/(?:[^/]+\/|index\.ts$)|money\/catalog\/)/

/** The middle is neutral. In the pipeline not even a comment names a vendor. */
export function checkWords(sources: readonly SourceFile[]): string[] {
  return sources
    .filter(({ path }) => path.startsWith('server/') && !VENDOR_PLACES.test(path))
    .flatMap((source) => {
      const { path, text, masked } = source
      const named = path.startsWith('server/work/pipeline/')
        ? vendorWords(text).map((word) => `${path} names ${word}`)
        : vendorWords(masked.code).map((word) => `${path} names ${word} in its code`)
      const inTexts = masked.strings
        .filter((literal) => !isAllowed(path, literal.text))
        .flatMap(({ start, text: literal }) =>
          vendorWords(literal).map((word) => `${path}:${lineOf(text, start)} names ${word}`),
        )
      return [...named, ...inTexts]
    })
}

function isAllowed(path: string, text: string): boolean {
  return VENDOR_ALLOWED.some((one) => path.startsWith(one.path) && one.text.test(text))
}

/** Words of sentences, of kebab-case and of camelCase, which product names use too. */
function vendorWords(text: string): string[] {
  const whole = text.match(/[A-Za-z]+/g) ?? []
  const parts = text.replace(/([a-z\d])([A-Z])/g, '$1 $2').match(/[A-Za-z]+/g) ?? []
  return [...new Set([...whole, ...parts])].filter((word) => VENDOR_WORDS.has(word.toLowerCase()))
}

/** Habits of types and of tests that a reviewer would otherwise have to see. */
export function checkHabits(sources: readonly SourceFile[]): string[] {
  return sources.flatMap((source) => [
    ...checkAny(source),
    ...findInCode(source, /\benum\s+\w+\s*\{/g, 'declares an enum: use a union'),
    ...findInCode(source, /\b(?:test|it|describe|suite)\.only\b/g, 'leaves a test focused'),
    ...findInCode(
      source,
      /\bskip:\s*true\b|\b(?:test|it|describe|suite|t)\.(?:skip|todo)\(/g,
      'skips without a reason',
    ),
    ...findInCode(
      source,
      /^(?:test|describe)\((?=[\s\S]*?^(?:await|const [^\n]*= await) )/gm,
      'awaits after its first test, so the tests behind it may not run',
    ),
    ...findInCode(source, PACKED, 'packs members into a spread to save lines'),
    ...checkComments(source),
  ])
}

/** The spread of a literal: its members could stand by themselves. A list may be mapped first. */
const PACKED = /\.\.\.\{|\.\.\.\[[^\][\n]*\](?=\s*[,\])}])/g

/** The linter refuses it too; here not even a reason excuses it, but in tests. */
function checkAny(source: SourceFile): string[] {
  if (source.path.startsWith('tests/')) return []
  return findInCode(source, /(?:[:<|,&=(]|\bas)\s*any\b(?!\s*[(:])/g, 'uses `any`')
}

function checkComments({ path, text, masked }: SourceFile): string[] {
  return masked.comments
    .filter((comment) => /\b(?:FIXME|XXX|HACK|TODO)\b|@ts-(?:ignore|nocheck)/.test(comment.text))
    .map(({ start }) => `${path}:${lineOf(text, start)} leaves a mark instead of finishing`)
}

const NEEDS_HEADER =
  /^(?:bin|server|simulators|scripts|benchmarks|proofs|testbed|tests)\/.*(?<!\.test\.ts)$/

/** A file starts by saying why it exists; a test says it in its titles. */
export function checkHeaders(sources: readonly SourceFile[]): string[] {
  return sources
    .filter(({ path, text }) => NEEDS_HEADER.test(path) && !/^(?:#!.*\n)?\s*\/[*/]/.test(text))
    .map(({ path }) => `${path} does not say at its top why it exists`)
}

/** Text of any kind that gives away a machine, or a person's tools. */
export function checkForbiddenText(path: string, text: string): string[] {
  return FORBIDDEN_TEXT.flatMap(({ pattern, why }) => {
    const match = pattern.exec(text)
    return match ? [`${path}:${lineOf(text, match.index)} holds ${why}`] : []
  })
}
