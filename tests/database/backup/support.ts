/** A gateway's database with something in it, a place to restore to, and what both contain. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Sql } from 'postgres'
import { closeHolds, takeHolds } from '../../../server/money/ledger/posting/move-store.ts'
import { type HoldRow, postCredit } from '../../../server/money/ledger/store.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'

export const MIGRATIONS = join(import.meta.dirname, '..', '..', '..', 'migrations')
const ACCOUNTS = ['acct_a', 'acct_b', 'acct_c'] as const

export function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-backup-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A migrated database with three accounts that have money. */
export async function makeSource(t: TestContext): Promise<TestDatabase> {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  await fillAccounts(database.sql)
  return database
}

export async function fillAccounts(sql: Sql): Promise<void> {
  for (const id of ACCOUNTS) {
    await sql`insert into account (id, name) values (${id}, 'test')`
    await sql`insert into balance (account_id, currency) values (${id}, 'CNY')`
    await postCredit(sql, {
      id: `credit_${id}`,
      accountId: id,
      kind: 'top_up',
      amountNanos: 1_000_000n,
      reason: 'test',
      actor: 'test',
      eventId: null,
    })
  }
}

/** A database with nothing in it. */
export async function makeEmpty(t: TestContext): Promise<TestDatabase> {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  await database.sql.unsafe('drop schema public cascade; create schema public')
  return database
}

export function holdRow(id: string, account: string, amount: number): HoldRow {
  return {
    id,
    request_id: `req_${id}`,
    account_id: account,
    key_id: 'key',
    owner_id: 'own_dead',
    task_id: null,
    endpoint: 'test',
    model: 'test',
    price_version: null,
    amount: String(amount),
    estimate: {},
    spend_limit: null,
    idempotency_key: null,
    route: null,
    fingerprint: null,
  }
}

export async function settle(sql: Sql, ids: readonly string[], charge: number): Promise<void> {
  const rows = ids.map((hold_id) => ({
    hold_id,
    charge: String(charge),
    status: 'succeeded' as const,
    basis: 'usage',
    review: false,
    lines: [],
    attempts: [],
    error: null,
    upstream_cost: null,
    upstream_cost_version: null,
    task_id: null,
    answer: null,
  }))
  await closeHolds(sql, rows)
}

/** Takes and closes holds until it is told to stop; every fourth hold stays open. */
export function startWorkload(sql: Sql): { stop(): Promise<number> } {
  let stopping = false
  let taken = 0
  async function work(account: string): Promise<void> {
    for (let round = 0; !stopping; round += 1) {
      const ids = [0, 1, 2, 3].map((index) => `hold_${account}_${round}_${index}`)
      await takeHolds(
        sql,
        ids.map((id) => holdRow(id, account, 10)),
      )
      await settle(sql, ids.slice(1), 4)
      taken += ids.length
    }
  }
  const working = Promise.all(ACCOUNTS.map(work))
  return {
    async stop() {
      stopping = true
      await working
      return taken
    },
  }
}

/** Every table's rows as one digest, in PostgreSQL's own words. */
export async function digestTables(sql: Sql): Promise<Record<string, string>> {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' order by relname`
  const digests: Record<string, string> = {}
  for (const { name } of tables) {
    const isHistory = name === 'schema_migration' || name === 'function_file'
    const applied = isHistory ? 't.name || t.sha256' : 't::text'
    const [row] = await sql.unsafe<{ digest: string }[]>(
      `select count(*) || ' ' || coalesce(md5(string_agg(x, '|' order by x)), '') as digest
       from (select ${applied} as x from "${name}" t) as texts`,
    )
    digests[name] = row?.digest ?? ''
  }
  return digests
}
