/**
 * Finds every regular expression of server/: literals in the sources, and those that are built from
 * text while the modules load, as they come out.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type ESTree, parseSync, Visitor } from 'vite'
import { lineOf, ROOT } from '../../tidy/read-tree.ts'

export interface FoundPattern {
  /** `server/base/lib/money.ts:12` */
  readonly place: string
  readonly source: string
  readonly flags: string
}

interface ReadPatterns {
  readonly literals: readonly FoundPattern[]
  /** Where an expression is built from text, `server/base/lib/money.ts:12`. */
  readonly builders: readonly string[]
}

/** Methods that read a text as a pattern. */
const COMPILING = new Set(['match', 'matchAll', 'search'])

export function readPatterns(path: string, text: string): ReadPatterns {
  const literals: FoundPattern[] = []
  const builders: string[] = []
  const placeOf = ({ start }: { readonly start: number }) => `${path}:${lineOf(text, start)}`
  const visitor = new Visitor({
    Literal(node) {
      if (!('regex' in node)) return
      const { pattern: source, flags } = node.regex
      literals.push({ place: placeOf(node), source, flags })
    },
    NewExpression(node) {
      if (isNamed(node.callee, 'RegExp')) builders.push(placeOf(node))
    },
    CallExpression(node) {
      const { callee, arguments: given } = node
      if (isNamed(callee, 'RegExp')) builders.push(placeOf(node))
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return
      const isText = given[0]?.type === 'Literal' && !('regex' in given[0])
      if (COMPILING.has(callee.property.name) && isText) builders.push(placeOf(node))
    },
  })
  visitor.visit(parseSync(path, text).program)
  return { literals, builders }
}

function isNamed(node: ESTree.Expression, name: string): boolean {
  return node.type === 'Identifier' && node.name === name
}

/** Loads all modules of server/ in a process of its own, and returns what they build meanwhile. */
export async function recordPatterns(): Promise<FoundPattern[]> {
  const script = join(ROOT, 'tests/linear/patterns/record-patterns.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [script], { maxBuffer: 2 ** 24 })
  return JSON.parse(stdout)
}
