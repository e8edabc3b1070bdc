/**
 * The policies of a run by rows: a role that sees the rows of the accounts that a setting of its
 * transaction names, and no others. Tables without an account have none; the statements and
 * functions that docs/shard-clean.md lists are not bound by them.
 */
import type { Sql } from 'postgres'
import { readExceptions } from '../lint/read-exceptions.ts'

/** A role without rights of its own over rows. */
export const ROLE = 'tributary_rows'
export const SETTING = 'tributary.accounts'

const NAMED = `any (string_to_array(current_setting('${SETTING}', true), ','))`

/** Prepares a migrated database. */
export async function installPolicies(sql: Sql): Promise<void> {
  await sql.unsafe(`
    do $$ begin create role ${ROLE} nologin nobypassrls;
      exception when duplicate_object then null; end $$;
    grant all on all tables in schema public to ${ROLE};
    grant all on all sequences in schema public to ${ROLE};`)
  const owned = await sql<{ name: string }[]>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'account_id'`
  for (const { name } of owned) await secure(sql, name, `account_id = ${NAMED}`)
  await secure(sql, 'account', `id = ${NAMED}`)
  const free = readExceptions().flatMap(({ file, name }) => {
    return file.endsWith('.sql') && name !== undefined ? [name] : []
  })
  const routines = await sql<{ routine: string }[]>`
    select p.oid::regprocedure::text as routine from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.proname = any(${free}::text[])`
  for (const { routine } of routines) await sql.unsafe(`alter function ${routine} security definer`)
}

async function secure(sql: Sql, table: string, condition: string): Promise<void> {
  await sql.unsafe(`
    alter table ${table} enable row level security;
    create policy one_account on ${table} to ${ROLE} using (${condition})`)
}
