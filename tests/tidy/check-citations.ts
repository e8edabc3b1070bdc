/**
 * Citations lead somewhere: files, folders and headings that comments and pages name exist in the
 * repository, and nothing points at papers or lists outside of it.
 */
import { posix } from 'node:path'
import { headingsOf } from './check-docs.ts'
import { lineOf, readText, type SourceFile } from './read-tree.ts'
import { FOREIGN_CITATIONS, KNOWN_TERMS, TOP_FOLDERS } from './rules.ts'

/** Prose of one file: a comment, a test's title, or a whole page. */
export interface Passage {
  readonly path: string
  readonly line: number
  readonly text: string
}

/** Results say what was so when they were measured. */
const RECORDS = /^benchmarks\/results\//
const TITLE_BEFORE = /\b(?:test|it|describe|suite)\s*\(\s*$/

/** Comments of code and SQL, and pages; with their titles where they are tests. */
export function readPassages(
  sources: readonly SourceFile[],
  paths: readonly string[],
): readonly Passage[] {
  return [
    ...sources.flatMap((source) => [...readComments(source), ...readTitles(source)]),
    ...paths.filter((path) => path.endsWith('.sql')).flatMap(readSqlComments),
    ...paths
      .filter((path) => path.endsWith('.md') && !RECORDS.test(path))
      .map((path) => ({ path, line: 1, text: readText(path) })),
  ]
}

function readComments({ path, text, masked }: SourceFile): readonly Passage[] {
  return masked.comments.map((one) => ({ path, line: lineOf(text, one.start), text: one.text }))
}

/** Titles, and every text of a test that begins with a code: data tables hold titles too. */
function readTitles({ path, text, masked }: SourceFile): readonly Passage[] {
  if (!path.endsWith('.test.ts')) return []
  return masked.strings
    .filter(({ start, text: literal }) => {
      const isTitle = TITLE_BEFORE.test(masked.code.slice(Math.max(0, start - 40), start))
      return isTitle || /^[A-Z]{2,3}\d{2,3}\b/.test(literal)
    })
    .map((one) => ({ path, line: lineOf(text, one.start), text: one.text }))
}

function readSqlComments(path: string): readonly Passage[] {
  const lines = readText(path).split('\n')
  return lines.flatMap((line, index) => {
    const start = line.indexOf('--')
    return start < 0 ? [] : [{ path, line: index + 1, text: line.slice(start) }]
  })
}

const URL = /\bhttps?:\/\/\S+/g
const NAME = /(?<![\w./:~$@}-])[\w.<>*/-]*[\w>*/](?:#[\w-]+)?/g
const FILE = /[\w>*]\.(?:md|tsx?|mjs|sql)$/

/** Files and folders of this repository that a passage names, with their headings. */
export function checkCitations(
  passages: readonly Passage[],
  paths: readonly string[],
): readonly string[] {
  const places = new Set(listPlaces(paths))
  return passages.flatMap((passage) => {
    const text = passage.text.replace(URL, (url) => ' '.repeat(url.length))
    return [...text.matchAll(NAME)].flatMap(({ 0: name, index }) => {
      const problem = judgeName(name, passage.path, places)
      if (problem === undefined) return []
      const line = passage.line + lineOf(text, index) - 1
      return [`${passage.path}:${line} names ${name}: ${problem}`]
    })
  })
}

/** Every file and every folder, each folder without and with its slash. */
function listPlaces(paths: readonly string[]): readonly string[] {
  const folders = new Set<string>()
  for (const path of paths) {
    for (let at = posix.dirname(path); at !== '.'; at = posix.dirname(at)) folders.add(at)
  }
  return [...paths, ...[...folders].flatMap((folder) => [folder, `${folder}/`])]
}

function judgeName(name: string, from: string, places: ReadonlySet<string>): string | undefined {
  const [file = '', heading] = name.split('#')
  const isInTree = TOP_FOLDERS.some((folder) => file.startsWith(`${folder}/`))
  if (!FILE.test(file) && !isInTree) return undefined
  const place = findPlace(file, from, places)
  if (place === undefined) return 'there is no such place in the repository'
  if (heading === undefined || !place.endsWith('.md')) return undefined
  return headingsOf(place).has(heading) ? undefined : 'that page has no such heading'
}

/** From the root, from the citing file, or by the end of a path; `<…>` and `*` stand for any name. */
function findPlace(file: string, from: string, places: ReadonlySet<string>): string | undefined {
  const beside = posix.join(posix.dirname(from), file)
  if (places.has(file)) return file
  if (places.has(beside)) return beside
  const parts = file.replace(/^-/, '*-').split(/<[^>]*>|\*+/)
  const pattern = parts.map((part) => part.replaceAll('.', '\\.')).join('[^/]+')
  const ending = new RegExp(`(?:^|/)${pattern}$`)
  return [...places].find((place) => ending.test(place))
}

const CODE = /(?<![\w.-])[A-Z]{1,3}-?\d{1,3}[a-z]?\b(?![-.]\d)/g

/** Papers, numbered parts, tickets and codes that only somebody with a list understands. */
export function checkForeign(passages: readonly Passage[]): readonly string[] {
  return passages.flatMap(({ path, line, text }) => {
    const prose = text.replace(URL, (url) => ' '.repeat(url.length))
    const cited = FOREIGN_CITATIONS.flatMap(({ pattern, why }) =>
      [...prose.matchAll(pattern)].map(({ 0: found, index }) => ({ found, index, why })),
    )
    const codes = [...prose.matchAll(CODE)]
      .filter(({ 0: code }) => !KNOWN_TERMS.has(code))
      .map(({ 0: found, index }) => ({ found, index, why: 'a code without its list' }))
    return [...cited, ...codes].map(
      ({ found, index, why }) => `${path}:${line + lineOf(prose, index) - 1} ${found}: ${why}`,
    )
  })
}
