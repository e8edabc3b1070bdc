/**
 * Finds what a statement reads or writes of an account's tables without naming the account: each
 * level of a query has to compare `account_id` of each such table with a value, with a column of an
 * outer level, or with the account of another table that is compared so.
 */
import type { Tables } from './read-tables.ts'
import { isTree, listOf, type Tree, textOf, treeOf, walk } from './tree.ts'

/** The column that names the account; the table of accounts has its own id. */
const columnOf = (table: string) => (table === 'account' ? 'id' : 'account_id')

interface Level {
  /** Tables of accounts by the names they have here. */
  readonly tables: Map<string, string>
  /** Conditions all of which hold. */
  readonly conditions: unknown[]
  /** Names whose accounts are the same. */
  readonly same: Array<readonly [string, string]>
}

const STATEMENTS = ['SelectStmt', 'UpdateStmt', 'DeleteStmt', 'InsertStmt']

/** Returns the tables that a statement uses without the account, each as often as it does. */
export function findUnnamed(statement: unknown, tables: Tables): string[] {
  const offences: string[] = []
  visit(statement, new Set())
  return offences

  function visit(value: unknown, known: ReadonlySet<string>): void {
    walk(value, (tree) => {
      const kind = STATEMENTS.find((name) => isTree(tree[name]))
      if (kind === undefined) return false
      judge(kind, tree[kind] as Tree, known)
      return true
    })
  }

  function judge(kind: string, node: Tree, outer: ReadonlySet<string>): void {
    const parts = listOf(treeOf(node, 'withClause'), 'ctes').map((one) => {
      return treeOf(one, 'CommonTableExpr')
    })
    const known = new Set([...outer, ...parts.map((part) => textOf(part, 'ctename'))])
    const level: Level = { tables: new Map(), conditions: [], same: [] }
    if (kind === 'SelectStmt') {
      for (const source of listOf(node, 'fromClause')) addSource(level, source, known)
      for (const side of [node.larg, node.rarg]) if (isTree(side)) judge(kind, side, known)
    } else if (kind === 'InsertStmt') judgeInsert(node)
    else {
      addTable(level, treeOf(node, 'relation'), known)
      for (const from of ['fromClause', 'usingClause']) {
        for (const source of listOf(node, from)) addSource(level, source, known)
      }
    }
    level.conditions.push(node.whereClause)
    offences.push(...findUnbound(level))
    const { larg: _, rarg: __, relation: ___, ...rest } = node
    visit(Object.values(rest), known)
  }

  function addTable(level: Level, range: unknown, known: ReadonlySet<string>): void {
    const table = textOf(range, 'relname')
    if (known.has(table) || !isOfAccounts(table, tables)) return
    level.tables.set(textOf(treeOf(range, 'alias'), 'aliasname') || table, table)
  }

  /** Subselects are levels of their own. */
  function addSource(level: Level, source: unknown, known: ReadonlySet<string>): void {
    addTable(level, treeOf(source, 'RangeVar'), known)
    const join = treeOf(source, 'JoinExpr')
    if (!join) return
    const before = new Set(level.tables.keys())
    addSource(level, join.larg, known)
    const left = [...level.tables.keys()].filter((name) => !before.has(name))
    addSource(level, join.rarg, known)
    const right = [...level.tables.keys()].filter((n) => !before.has(n) && !left.includes(n))
    level.conditions.push(join.quals)
    const using = listOf(join, 'usingClause').map((one) => textOf(treeOf(one, 'String'), 'sval'))
    if (using.includes('account_id') && left[0] && right[0]) level.same.push([left[0], right[0]])
  }

  function judgeInsert(node: Tree): void {
    const table = textOf(treeOf(node, 'relation'), 'relname')
    if (!isOfAccounts(table, tables)) return
    const columns = listOf(node, 'cols').map((one) => textOf(treeOf(one, 'ResTarget'), 'name'))
    if (!columns.includes(columnOf(table))) offences.push(table)
  }
}

export function isOfAccounts(table: string, tables: Tables): boolean {
  return table === 'account' || tables.get(table)?.has('account_id') === true
}

/** Returns the tables whose account no condition names. */
function findUnbound({ tables, conditions, same }: Level): string[] {
  const bound = new Set<string>()
  for (const condition of conditions.flatMap(conjunctsOf)) {
    for (const [left, right] of pairsOf(condition)) {
      const sides = [accountOf(left, tables), accountOf(right, tables)]
      const [a, b] = sides
      if (a !== undefined && b !== undefined) same.push([a, b])
      else bound.add(a ?? b ?? '')
    }
  }
  for (let grown = true; grown; ) {
    grown = false
    for (const pair of same) {
      if (bound.has(pair[0]) === bound.has(pair[1])) continue
      for (const name of pair) bound.add(name)
      grown = true
    }
  }
  return [...tables].filter(([name]) => !bound.has(name)).map(([, table]) => table)
}

/** Takes conditions joined by AND apart. */
function conjunctsOf(condition: unknown): readonly unknown[] {
  const both = treeOf(condition, 'BoolExpr')
  if (textOf(both, 'boolop') !== 'AND_EXPR') return [condition]
  return listOf(both, 'args').flatMap(conjunctsOf)
}

/** The sides of `a = b`, `a = any (b)` and `a in (b)`; of rows, those of each member. */
function pairsOf(condition: unknown): Array<readonly [unknown, unknown]> {
  const compared = treeOf(condition, 'A_Expr')
  const operator = textOf(treeOf(listOf(compared, 'name')[0], 'String'), 'sval')
  const sublink = treeOf(condition, 'SubLink')
  if (
    textOf(sublink, 'subLinkType') === 'ANY_SUBLINK' &&
    listOf(sublink, 'operName').length === 0
  ) {
    return [[sublink?.testexpr, sublink?.subselect]]
  }
  const kinds = ['AEXPR_OP', 'AEXPR_OP_ANY', 'AEXPR_IN']
  if (!compared || operator !== '=' || !kinds.includes(textOf(compared, 'kind'))) return []
  const left = listOf(treeOf(compared.lexpr, 'RowExpr'), 'args')
  const right = listOf(treeOf(compared.rexpr, 'RowExpr'), 'args')
  if (left.length === 0 || left.length !== right.length) return [[compared.lexpr, compared.rexpr]]
  return left.map((one, index) => [one, right[index]] as const)
}

/** The name of the table of this level whose account an expression is. */
function accountOf(expression: unknown, tables: Level['tables']): string | undefined {
  const names = listOf(treeOf(expression, 'ColumnRef'), 'fields').map((one) => {
    return textOf(treeOf(one, 'String'), 'sval')
  })
  const column = names.at(-1)
  const [first] = names
  if (names.length > 1) {
    const table = tables.get(first ?? '')
    return table !== undefined && column === columnOf(table) ? first : undefined
  }
  const owners = [...tables].filter(([, table]) => column === columnOf(table))
  return owners.length === 1 ? owners[0]?.[0] : undefined
}
