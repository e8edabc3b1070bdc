/** Which modules a file imports, which names of them, and which names it exports. */
import type { MaskedSource } from './mask-source.ts'

export interface Import {
  readonly specifier: string
  /** Names taken from the module; `*` for all of them. */
  readonly names: readonly string[]
  readonly typeOnly: boolean
}

const FROM = /\bfrom\s*$/
const CALL = /\bimport\s*\(\s*$/
const BARE = /\bimport\s*$/
const KEYWORD = /(?:^|[\s;])(import|export)(?=[\s{*"])/g
const EXPORTED = /^export\s+(?:async\s+)?(function\*?|class|const|let|interface|type)\s+([\w$]+)/gm

export function readImports({ code, strings }: MaskedSource): Import[] {
  const imports: Import[] = []
  for (const { start, text, opening } of strings) {
    if (opening !== "'" && opening !== '"') continue
    const before = code.slice(Math.max(0, start - 2_000), start)
    if (CALL.test(before) || BARE.test(before)) {
      imports.push({ specifier: text, names: CALL.test(before) ? ['*'] : [], typeOnly: false })
    } else if (FROM.test(before)) {
      imports.push({ specifier: text, ...readClause(lastStatement(before)) })
    }
  }
  return imports
}

export interface Export {
  readonly name: string
  readonly isType: boolean
  /** How often the file itself says the name, its declaration included. */
  readonly mentions: number
}

/** Names declared with `export`; re-exports are imports of the names they pass on. */
export function readExports({ code }: MaskedSource): Export[] {
  return [...code.matchAll(EXPORTED)].map(({ 1: kind, 2: name = '' }) => ({
    name,
    isType: kind === 'interface' || kind === 'type',
    mentions: code.split(new RegExp(`(?<![\\w$])${name}(?![\\w$])`)).length - 1,
  }))
}

function lastStatement(before: string): string {
  const last = [...before.matchAll(KEYWORD)].at(-1)
  return last ? before.slice(last.index).trim() : ''
}

function readClause(statement: string): { names: string[]; typeOnly: boolean } {
  const clause = statement
    .replace(/^(?:import|export)\s*/, '')
    .replace(/\s*from\s*$/, '')
    .trim()
  const wholeType = /^type\s+[\w${*]/.test(clause)
  const rest = wholeType ? clause.replace(/^type\s+/, '') : clause
  const braces = /\{([^}]*)\}/.exec(rest)
  const members = (braces?.[1] ?? '').split(',').map((name) => name.trim())
  const named = members.filter((name) => name !== '')
  const outside = rest.replace(/\{[^}]*\}/, '').replace(/[\s,]/g, '')
  const names = named.map((name) => name.replace(/^type\s+/, '').split(/\s+as\s+/)[0] ?? '')
  if (outside.startsWith('*')) names.push('*')
  else if (outside !== '') names.push('default')
  const typeOnly =
    wholeType || (outside === '' && named.length > 0 && named.every((one) => /^type\s/.test(one)))
  return { names, typeOnly }
}
