/** Reads the tables and their columns from the migrations: no list of them is kept twice. */
import { parseSync } from 'libpg-query'
import { listFiles, readText } from '../../tidy/read-tree.ts'
import { listOf, textOf, treeOf } from './tree.ts'

/** Tables by name, each with its columns. */
export type Tables = ReadonlyMap<string, ReadonlySet<string>>

export function readTables(): Tables {
  const tables = new Map<string, Set<string>>()
  for (const path of listFiles('migrations').filter((file) => file.endsWith('.sql'))) {
    for (const { stmt } of parseSync(readText(path)).stmts ?? []) apply(tables, stmt)
  }
  return tables
}

function apply(tables: Map<string, Set<string>>, statement: unknown): void {
  const created = treeOf(statement, 'CreateStmt')
  if (created) {
    const columns = listOf(created, 'tableElts').map((one) =>
      textOf(treeOf(one, 'ColumnDef'), 'colname'),
    )
    tables.set(textOf(treeOf(created, 'relation'), 'relname'), new Set(columns))
  }
  const altered = treeOf(statement, 'AlterTableStmt')
  const columns = tables.get(textOf(treeOf(altered, 'relation'), 'relname'))
  for (const command of listOf(altered, 'cmds').map((one) => treeOf(one, 'AlterTableCmd'))) {
    const kind = textOf(command, 'subtype')
    const added = treeOf(treeOf(command, 'def'), 'ColumnDef')
    if (kind === 'AT_AddColumn') columns?.add(textOf(added, 'colname'))
    if (kind === 'AT_DropColumn') columns?.delete(textOf(command, 'name'))
  }
  const dropped = treeOf(statement, 'DropStmt')
  if (textOf(dropped, 'removeType') !== 'OBJECT_TABLE') return
  for (const object of listOf(dropped, 'objects')) {
    const names = listOf(treeOf(object, 'List'), 'items')
    tables.delete(textOf(treeOf(names.at(-1), 'String'), 'sval'))
  }
}
