/**
 * Reads TypeScript just well enough for tidy rules: it tells code from comments, strings and
 * regular expressions. No parser is needed for what the rules ask, and none is as quick.
 */
export interface Literal {
  /** Where the opening quote stands. */
  readonly start: number
  /** The text between the quotes, escapes as written; of a comment all of it. */
  readonly text: string
  /** What it began with: a quote, `}` after a template's substitution, or a slash. */
  readonly opening: string
}

export interface MaskedSource {
  /** As long as the source; comments and the insides of literals are blanks. */
  readonly code: string
  readonly comments: readonly Literal[]
  readonly strings: readonly Literal[]
}

/** After these words a slash begins a regular expression, not a division. */
const BEFORE_PATTERN = /(?:^|[^\w$.])(?:return|typeof|case|in|of|void|throw|else|await|yield)$/
const OPERAND_END = /[\w$)\]]/

interface Cursor {
  readonly source: string
  readonly out: string[]
  readonly comments: Literal[]
  readonly strings: Literal[]
  /** For each open template: the depth of braces inside its current substitution. */
  readonly templates: number[]
  at: number
}

export function maskSource(source: string): MaskedSource {
  const cursor: Cursor = {
    source,
    out: [...blank(source)],
    comments: [],
    strings: [],
    templates: [],
    at: 0,
  }
  while (cursor.at < source.length) step(cursor)
  return { code: cursor.out.join(''), comments: cursor.comments, strings: cursor.strings }
}

/** Spaces for everything but line ends. Splits by UTF-16 unit, as all positions count. */
function blank(source: string): string {
  return source.replace(/[^\n]/g, ' ')
}

function step(cursor: Cursor): void {
  const { source, at } = cursor
  const char = source.charAt(at)
  const next = source.charAt(at + 1)
  if (char === '/' && next === '/') readComment(cursor, source.indexOf('\n', at))
  else if (char === '/' && next === '*') readComment(cursor, source.indexOf('*/', at + 2) + 2)
  else if (char === "'" || char === '"') readString(cursor, char)
  else if (char === '`') readTemplate(cursor, at)
  else if (char === '/' && startsPattern(cursor)) readPattern(cursor)
  else readCode(cursor, char)
}

function readComment(cursor: Cursor, found: number): void {
  const end = found < cursor.at + 2 ? cursor.source.length : found
  cursor.comments.push({
    start: cursor.at,
    text: cursor.source.slice(cursor.at, end),
    opening: '/',
  })
  cursor.at = end
}

function readString(cursor: Cursor, quote: string): void {
  const start = cursor.at
  let at = start + 1
  while (at < cursor.source.length && cursor.source.charAt(at) !== quote) {
    at += cursor.source.charAt(at) === '\\' ? 2 : 1
  }
  keepLiteral(cursor, start, at)
}

/** Reads from a backtick, or from the brace that ends a substitution, to the next of either. */
function readTemplate(cursor: Cursor, start: number): void {
  const { source } = cursor
  let at = start + 1
  while (at < source.length && source.charAt(at) !== '`') {
    if (source.startsWith('${', at)) {
      keepLiteral(cursor, start, at)
      cursor.templates.push(0)
      cursor.at = at + 2
      return
    }
    at += source.charAt(at) === '\\' ? 2 : 1
  }
  keepLiteral(cursor, start, at)
}

/** Keeps the quotes in the code, so that a rule can see where a literal stood. */
function keepLiteral(cursor: Cursor, start: number, end: number): void {
  cursor.strings.push({
    start,
    text: cursor.source.slice(start + 1, end),
    opening: cursor.source.charAt(start),
  })
  cursor.out[start] = '"'
  if (end < cursor.source.length) cursor.out[end] = '"'
  cursor.at = end + 1
}

function startsPattern({ source, out, at }: Cursor): boolean {
  // The end of an element, `</p>` or `/>`: no pattern of ours begins with `>`.
  if (source.charAt(at - 1) === '<' || source.charAt(at + 1) === '>') return false
  const before = out
    .slice(Math.max(0, at - 40), at)
    .join('')
    .trimEnd()
  return !OPERAND_END.test(before.charAt(before.length - 1)) || BEFORE_PATTERN.test(before)
}

function readPattern(cursor: Cursor): void {
  const { source, at: start } = cursor
  let at = start + 1
  let inClass = false
  while (at < source.length && (inClass || source.charAt(at) !== '/')) {
    const char = source.charAt(at)
    if (char === '[') inClass = true
    if (char === ']') inClass = false
    at += char === '\\' ? 2 : 1
  }
  keepLiteral(cursor, start, at)
}

function readCode(cursor: Cursor, char: string): void {
  const depth = cursor.templates.at(-1)
  if (depth !== undefined && char === '}' && depth === 0) {
    cursor.templates.pop()
    readTemplate(cursor, cursor.at)
    return
  }
  if (depth !== undefined && char === '{') cursor.templates[cursor.templates.length - 1] = depth + 1
  if (depth !== undefined && char === '}') cursor.templates[cursor.templates.length - 1] = depth - 1
  cursor.out[cursor.at] = char
  cursor.at += 1
}
