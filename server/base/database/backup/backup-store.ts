/** SQL of backup and restore. Requires only ownership of the tables. */
import type { Sql, TransactionSql } from 'postgres'
import { readCopied } from '../connection/read-copied.ts'
import type { BackupSequence } from './backup-manifest.ts'
import { findMoneyColumns, type MoneySum } from './money-sums.ts'

export interface TableShape {
  readonly name: string
  readonly columns: readonly string[]
  /** In PostgreSQL's notation, in the order of the columns. */
  readonly types: readonly string[]
}

const quote = (name: string) => `"${name.replaceAll('"', '""')}"`
const quoteList = (names: readonly string[]) => names.map(quote).join(', ')

/** Runs `work` on one snapshot, with output formats that write the same value as the same text. */
export async function withSnapshot<T>(
  sql: Sql,
  work: (view: TransactionSql) => Promise<T>,
): Promise<T> {
  const outcome = await sql.begin('isolation level repeatable read read only', async (view) => {
    await fixFormats(view)
    return { value: await work(view) }
  })
  return outcome.value
}

/** Fixes the settings that affect how values are written, and lifts the timeouts. */
export async function fixFormats(transaction: TransactionSql): Promise<void> {
  await transaction.unsafe(`
    set local statement_timeout = 0;
    set local idle_in_transaction_session_timeout = 0;
    set local timezone = 'UTC';
    set local datestyle = 'ISO';
    set local intervalstyle = 'postgres';
    set local bytea_output = 'hex';
    set local extra_float_digits = 1`)
}

/** Tables that describe only this database, or that can be derived from others. */
export const NOT_BACKED_UP: readonly string[] = [
  'schema_migration',
  'function_file',
  'verified_week',
  'verified_sum',
  'verified_key',
  'verified_budget',
  'verified_books',
]

/** Lists every table of the gateway that a backup has. */
export async function listTables(transaction: TransactionSql): Promise<TableShape[]> {
  return await transaction<TableShape[]>`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns,
      array_agg(format_type(a.atttypid, a.atttypmod) order by a.attnum) as types
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
      and not c.relispartition and c.relname <> all (${NOT_BACKED_UP}::text[])
      and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    group by c.relname order by c.relname`
}

/** Prevents changes to these tables' columns until the transaction ends. */
export async function keepShapes(
  transaction: TransactionSql,
  tables: readonly TableShape[],
): Promise<void> {
  const names = quoteList(tables.map(({ name }) => name))
  if (tables.length > 0) await transaction.unsafe(`lock table ${names} in access share mode`)
}

export async function readInstant(transaction: TransactionSql) {
  const [row] = await transaction<{ at: Date; version: string }[]>`
    select now() as at, current_setting('server_version') as version`
  return { at: row?.at ?? new Date(0), version: row?.version ?? '' }
}

/** Yields all rows in COPY text format, in no particular order. */
export async function* copyOut(
  transaction: TransactionSql,
  table: { readonly name: string; readonly columns: readonly string[] },
): AsyncGenerator<Buffer> {
  const select = `select ${quoteList(table.columns)} from ${quote(table.name)}`
  const rows = await readCopied(transaction.unsafe(`copy (${select}) to stdout`))
  for await (const chunk of rows) yield chunk
  // The client (postgres 3.4) pauses its socket for a slow reader and leaves it paused if the last
  // rows arrived together, so the next query would never be answered. This resumes it.
  rows._read(0)
}

/** Returns the sums of the money columns, by currency if the table has one; empty without rows. */
export async function sumMoney(
  transaction: TransactionSql,
  { name, columns }: Pick<TableShape, 'name' | 'columns'>,
): Promise<MoneySum[]> {
  const money = findMoneyColumns(name, columns)
  if (money.length === 0) return []
  const currency = columns.includes('currency') ? 'currency' : 'null::text'
  const sums = money.map((column) => `coalesce(sum(${quote(column)}), 0)::text`).join(', ')
  const rows = await transaction.unsafe<{ currency: string | null; sums: string[] }[]>(
    `select ${currency} as currency, array[${sums}] as sums from ${quote(name)} group by 1`,
  )
  return rows.flatMap(({ currency, sums }) =>
    money.map((column, index) => {
      const nanos = BigInt(sums[index] ?? 0)
      return { table: name, column, currency, nanos }
    }),
  )
}

export async function readSequences(transaction: TransactionSql): Promise<BackupSequence[]> {
  const names = await transaction<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'S' order by relname`
  const sequences: BackupSequence[] = []
  for (const { name } of names) {
    const [row] = await transaction.unsafe<{ value: string; called: boolean }[]>(
      `select last_value::text as value, is_called as called from ${quote(name)}`,
    )
    if (row) sequences.push({ name, ...row })
  }
  return sequences
}

export async function setSequence(
  transaction: TransactionSql,
  { name, value, called }: BackupSequence,
): Promise<void> {
  await transaction`select setval(${quote(name)}::regclass, ${value}::bigint, ${called})`
}

/** Returns the number of gateways with a live lease on this database; 0 without that table. */
export async function countLiveGateways(transaction: TransactionSql): Promise<number> {
  const [table] = await transaction`select 1 from pg_class
    where relname = 'owner' and relnamespace = current_schema()::regnamespace`
  if (!table) return 0
  const [row] = await transaction<{ live: number }[]>`
    select count(*)::int as live from owner where lease_until > clock_timestamp()`
  return row?.live ?? 0
}

/**
 * Drops all tables, including the list of migrations, and all functions except those of extensions.
 */
export async function dropEverything(transaction: TransactionSql): Promise<void> {
  const tables = await transaction<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
      and not relispartition`
  const names = quoteList(tables.map(({ name }) => name))
  if (names) await transaction.unsafe(`drop table ${names} cascade`)
  const routines = await transaction<{ name: string }[]>`
    select p.oid::regprocedure::text as name from pg_proc p
    where p.pronamespace = current_schema()::regnamespace and not exists (
      select 1 from pg_depend d
      where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')`
  for (const { name } of routines) await transaction.unsafe(`drop routine ${name} cascade`)
}

interface ForeignKey {
  readonly table: string
  readonly name: string
  readonly definition: string
}

/**
 * Runs `load` on emptied tables with triggers disabled and foreign keys dropped, so that rows may
 * come in any order and restored rows trigger nothing. Afterwards the foreign keys are recreated,
 * which checks all rows.
 */
export async function withoutGuards(
  transaction: TransactionSql,
  tables: readonly TableShape[],
  load: () => Promise<void>,
): Promise<void> {
  const keys = await transaction<ForeignKey[]>`
    select conrelid::regclass::text as table, conname as name,
      pg_get_constraintdef(oid) as definition
    from pg_constraint
    where contype = 'f' and connamespace = current_schema()::regnamespace and conparentid = 0`
  for (const { table, name } of keys) {
    await transaction.unsafe(`alter table ${table} drop constraint ${quote(name)}`)
  }
  for (const { name } of tables) {
    await transaction.unsafe(`alter table ${quote(name)} disable trigger user`)
    await transaction.unsafe(`truncate ${quote(name)}`)
  }
  await load()
  for (const { name } of tables) {
    await transaction.unsafe(`alter table ${quote(name)} enable trigger user`)
  }
  for (const { table, name, definition } of keys) {
    await transaction.unsafe(`alter table ${table} add constraint ${quote(name)} ${definition}`)
  }
  await transaction`analyze`
}

/** Inserts rows given as columns of text; PostgreSQL parses each text as in a COPY. */
export async function insertRows(
  transaction: TransactionSql,
  { name, columns, types }: TableShape,
  values: readonly (readonly (string | null)[])[],
): Promise<void> {
  const parameters = columns.map((_, index) => `$${index + 1}::text[]`).join(', ')
  const aliases = columns.map((_, index) => `c${index}`)
  const casts = aliases.map((alias, index) => `${alias}::${types[index]}`).join(', ')
  await transaction.unsafe(
    `insert into ${quote(name)} (${quoteList(columns)}) overriding system value
     select ${casts} from unnest(${parameters}) as rows (${aliases.join(', ')})`,
    values.map((column) => [...column]),
  )
}
