/** Finds the functions of a masked source and how many lines each of them takes. */

export interface MeasuredFunction {
  /** 1-based line of the parameter list. */
  readonly line: number
  readonly lines: number
  /** The text in front of the parameters, for messages and exemptions. */
  readonly head: string
}

const CONTROL = /(?:^|[^\w$.])(?:if|for|while|switch|catch|with|await)\s*$/
const ARROW = /^\s*=>\s*\{/
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '<': '>' }

/** Functions with a body in braces; a one-expression arrow is part of the code around it. */
export function measureFunctions(code: string): MeasuredFunction[] {
  const pairs = matchBrackets(code)
  const found: MeasuredFunction[] = []
  const lineAt = createLineCounter(code)
  for (const [open, close] of pairs) {
    if (code.charAt(open) !== '(') continue
    const body = findBody(code, open, close, pairs)
    const end = body === undefined ? undefined : pairs.get(body)
    if (end === undefined) continue
    const line = lineAt(open)
    const head =
      code
        .slice(Math.max(0, open - 60), open)
        .split('\n')
        .at(-1)
        ?.trim() ?? ''
    found.push({ line, lines: lineAt(end) - line + 1, head })
  }
  return found
}

/** Where the body of the function with these parameters begins, if they are parameters. */
function findBody(
  code: string,
  open: number,
  close: number,
  pairs: ReadonlyMap<number, number>,
): number | undefined {
  const rest = code.slice(close + 1, close + 2_000)
  const arrow = ARROW.exec(rest)
  if (arrow) return close + arrow[0].length
  if (CONTROL.test(code.slice(Math.max(0, open - 20), open))) return undefined
  const next = skipBlanks(code, close + 1)
  if (code.charAt(next) === '{') return next
  return code.charAt(next) === ':' ? afterType(code, next + 1, pairs) : undefined
}

/** Skips a return type; what is left must be a body, or an arrow and a body. */
function afterType(
  code: string,
  start: number,
  pairs: ReadonlyMap<number, number>,
): number | undefined {
  let complete = false
  let at = start
  for (;;) {
    at = skipBlanks(code, at)
    const char = code.charAt(at)
    if (code.startsWith('=>', at)) {
      const body = skipBlanks(code, at + 2)
      return complete && code.charAt(body) === '{' ? body : undefined
    }
    if (char === '{' && complete) return at
    const word = /^[\w$.]+/.exec(code.slice(at, at + 100))?.[0]
    if (word) {
      complete = !/^(?:is|keyof|readonly|typeof|asserts|extends|infer)$/.test(word)
      at += word.length
    } else if (char === '|' || char === '&') {
      complete = false
      at += 1
    } else if (char === '"') {
      complete = true
      at = code.indexOf('"', at + 1) + 1
    } else if (char in CLOSING) {
      const end = char === '<' ? endOfArguments(code, at) : pairs.get(at)
      if (end === undefined) return undefined
      complete = true
      at = end + 1
    } else {
      return undefined
    }
  }
}

function endOfArguments(code: string, open: number): number | undefined {
  let depth = 0
  for (let at = open; at < code.length; at += 1) {
    const char = code.charAt(at)
    if (char === '<') depth += 1
    else if (char === '>' && code.charAt(at - 1) !== '=') depth -= 1
    if (depth === 0) return at
  }
  return undefined
}

function matchBrackets(code: string): Map<number, number> {
  const pairs = new Map<number, number>()
  const open: number[] = []
  for (let at = 0; at < code.length; at += 1) {
    const char = code.charAt(at)
    if (char === '(' || char === '[' || char === '{') open.push(at)
    if (char !== ')' && char !== ']' && char !== '}') continue
    const start = open.pop()
    if (start !== undefined) pairs.set(start, at)
  }
  return pairs
}

function skipBlanks(code: string, start: number): number {
  let at = start
  while (at < code.length && /\s/.test(code.charAt(at))) at += 1
  return at
}

function createLineCounter(code: string): (position: number) => number {
  const starts = [0]
  for (let at = code.indexOf('\n'); at >= 0; at = code.indexOf('\n', at + 1)) starts.push(at + 1)
  return (position) => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((starts[middle] ?? 0) <= position) low = middle
      else high = middle - 1
    }
    return low + 1
  }
}
