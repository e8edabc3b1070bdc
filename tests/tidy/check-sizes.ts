/** How large files, functions and lines may be, and how large they usually are. */
import { measureFunctions } from './measure-functions.ts'
import type { SourceFile } from './read-tree.ts'
import { FILE_LINES_MAX, FUNCTION_LINES_MAX, LINE_WIDTH_MAX } from './rules.ts'

function countLines(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}

/** `others` are texts that only have a length: SQL, styles, pages. */
export function checkSizes(
  sources: readonly SourceFile[],
  others: readonly { readonly path: string; readonly text: string }[],
): string[] {
  const tooLong = [...sources, ...others]
    .map(({ path, text }) => ({ path, lines: countLines(text) }))
    .filter(({ lines }) => lines > FILE_LINES_MAX)
    .map(({ path, lines }) => `${path} has ${lines} lines, over ${FILE_LINES_MAX}`)
  return [...tooLong, ...sources.flatMap(checkFunctions), ...sources.flatMap(checkWidths)]
}

/** A `describe` is a chapter, not a function. */
function checkFunctions({ path, masked }: SourceFile): string[] {
  return measureFunctions(masked.code)
    .filter(({ lines, head }) => lines > FUNCTION_LINES_MAX && !/^describe\(/.test(head))
    .map(({ line, lines }) => `${path}:${line} has ${lines} lines, over ${FUNCTION_LINES_MAX}`)
}

/** A test's literal may be a vendor's bytes, which do not break. */
function checkWidths({ path, text }: SourceFile): string[] {
  return text.split('\n').flatMap((line, index) => {
    const isData = path.startsWith('tests/') && /['"`]/.test(line)
    const isWide = !isData && [...line].length > LINE_WIDTH_MAX
    return isWide ? [`${path}:${index + 1} is wider than ${LINE_WIDTH_MAX}`] : []
  })
}

/** For people: one line of figures about the product's own code. */
export function describeSizes(sources: readonly SourceFile[]): string {
  const product = sources.filter(({ path }) => /^(?:server|bin|simulators)\//.test(path))
  const tests = sources.filter(({ path }) => path.startsWith('tests/'))
  const files = product.map(({ text }) => countLines(text))
  const functions = product.flatMap(({ masked }) =>
    measureFunctions(masked.code).map(({ lines }) => lines),
  )
  const total = (list: readonly SourceFile[]) =>
    list.reduce((sum, { text }) => sum + countLines(text), 0)
  return (
    `${product.length} files of ${quantile(files, 0.5)} lines (median; 90 %: ` +
    `${quantile(files, 0.9)}), ${functions.length} functions of ${quantile(functions, 0.5)} ` +
    `(90 %: ${quantile(functions, 0.9)}); ${total(tests)} lines of tests for ${total(product)}`
  )
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) * share)] ?? 0
}
