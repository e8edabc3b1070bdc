/** Reads the statements of the house: those of the functions in SQL and those of the stores. */
import { parsePlPgSQLSync, parseSync } from 'libpg-query'
import { listFiles, readSources, readText } from '../../tidy/read-tree.ts'
import { fillTemplate } from './fill-template.ts'
import { readTemplates } from './read-templates.ts'
import { listOf, textOf, treeOf, walk } from './tree.ts'

export interface Statement {
  /** The file and the function that it stands in, with a space between. */
  readonly place: string
  readonly tree: unknown
}

/** Returns all statements; rejects a text that is no statement, naming its place. */
export function readStatements(): Statement[] {
  const files = listFiles('server')
  const functions = files.filter((path) => path.endsWith('.sql')).flatMap(readFunctions)
  const sources = readSources(files.filter((path) => path.endsWith('store.ts')))
  const templates = sources.flatMap(({ path, text, masked }) => {
    return readTemplates(text, masked).map(({ owner, pieces }) => {
      const place = `${path} ${owner}`
      return { place, tree: inPlace(place, () => fillTemplate(pieces)) }
    })
  })
  return [...functions, ...templates]
}

function readFunctions(path: string): Statement[] {
  const bytes = Buffer.from(readText(path))
  return (parseSync(bytes.toString()).stmts ?? []).flatMap((one) => {
    const created = treeOf(one.stmt, 'CreateFunctionStmt')
    if (!created) return []
    const name = textOf(treeOf(listOf(created, 'funcname').at(-1), 'String'), 'sval')
    const from = one.stmt_location ?? 0
    const end = one.stmt_len === undefined ? bytes.length : from + one.stmt_len
    const place = `${path} ${name}`
    return statementsOf(created, bytes.subarray(from, end).toString()).map((text) => {
      return { place, tree: inPlace(place, () => parseSync(text)) }
    })
  })
}

function statementsOf(created: unknown, text: string): string[] {
  const options = listOf(created, 'options').map((one) => treeOf(one, 'DefElem'))
  const language = options.find((one) => textOf(one, 'defname') === 'language')
  if (textOf(treeOf(treeOf(language, 'arg'), 'String'), 'sval') === 'plpgsql') return bodyOf(text)
  const body = options.find((one) => textOf(one, 'defname') === 'as')
  const items = listOf(treeOf(treeOf(body, 'arg'), 'List'), 'items')
  return items.map((one) => textOf(treeOf(one, 'String'), 'sval'))
}

/** The statements of a body in PL/pgSQL; an expression is read as a select of it. */
function bodyOf(text: string): string[] {
  const found: string[] = []
  // The parser knows no tables, so the row of one is a row of any.
  walk(parsePlPgSQLSync(text.replace(/\b\w+%rowtype/g, 'record')), (tree) => {
    const expression = treeOf(tree, 'PLpgSQL_expr')
    if (!expression) return false
    const query = textOf(expression, 'query')
    const mode = Number(expression.parseMode ?? 0)
    const value = mode > 2 ? query.slice(query.indexOf('=') + 1) : query
    found.push(mode === 0 ? query : `select ${value}`)
    return true
  })
  return found
}

function inPlace(place: string, read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    throw new Error(`${place}: ${(error as Error).message}`, { cause: error })
  }
}
