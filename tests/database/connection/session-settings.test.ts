/** Whatever a server, a database or a role has by default, the gateway's sessions are the same. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sql } from 'postgres'
import { connect } from '../../../server/base/database/connection/client.ts'
import { openDatabase } from '../../../server/base/database/open.ts'
import { audit } from '../../../server/money/ledger/audit/audit.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { fillAccounts, startWorkload } from '../backup/support.ts'

/**
 * Defaults that an operator may have for other programs, or by accident, and what is needed. They
 * count until a session is prepared, for which a busy machine may take seconds.
 */
const HOSTILE: Readonly<Record<string, readonly [hostile: string, needed: string]>> = {
  jit: ['on', 'off'],
  plan_cache_mode: ['force_custom_plan', 'auto'],
  default_transaction_isolation: ['serializable', 'read committed'],
  default_transaction_deferrable: ['on', 'off'],
  statement_timeout: ['20s', '5s'],
  lock_timeout: ['1ms', '0'],
  idle_in_transaction_session_timeout: ['1ms', '0'],
  idle_session_timeout: ['20s', '0'],
  transaction_timeout: ['20s', '0'],
  client_min_messages: ['debug5', 'warning'],
  exit_on_error: ['on', 'off'],
  TimeZone: ['Asia/Kathmandu', 'UTC'],
  DateStyle: ['SQL, DMY', 'ISO, MDY'],
  IntervalStyle: ['sql_standard', 'postgres'],
  extra_float_digits: ['-15', '1'],
  bytea_output: ['escape', 'hex'],
  array_nulls: ['off', 'on'],
  transform_null_equals: ['on', 'off'],
  standard_conforming_strings: ['off', 'on'],
  row_security: ['off', 'on'],
}

/** Returns those that this version of PostgreSQL knows. */
async function listKnown(sql: Sql) {
  const rows = await sql<{ name: string }[]>`
    select name from pg_settings where name = any(${Object.keys(HOSTILE)})`
  const known = new Set(rows.map(({ name }) => name))
  return Object.entries(HOSTILE).filter(([name]) => known.has(name))
}

test('hostile defaults of a database change neither a session nor the books', async () => {
  const database = await createTestDatabase()
  try {
    const known = await listKnown(database.sql)
    const name = new URL(database.url).pathname.slice(1)
    for (const [setting, [hostile]] of known) {
      await database.sql.unsafe(`alter database ${name} set ${setting} = '${hostile}'`)
    }
    const sql = connect(database.place)
    const found: Record<string, string> = {}
    for (const [setting] of known) {
      const [row] = await sql<{ value: string }[]>`select current_setting(${setting}) as value`
      found[setting] = row?.value ?? ''
    }
    assert.deepEqual(found, Object.fromEntries(known.map(([key, [, needed]]) => [key, needed])))
    const [transaction] = await sql.begin((view) => view`show transaction_isolation`)
    assert.deepEqual({ ...transaction }, { transaction_isolation: 'read committed' })

    await fillAccounts(sql)
    const workload = startWorkload(sql)
    await workload.stop()
    assert.ok((await audit(sql)).ok)
    await sql.end({ timeout: 1 })
  } finally {
    await database.drop()
  }
})

test('row-level security that hides all rows is refused, not taken for empty books', async () => {
  const database = await createTestDatabase()
  const role = `hidden_${process.pid}`
  try {
    await database.sql.unsafe(`create role ${role} login password 'hidden'`)
    await database.sql.unsafe(`grant all on all tables in schema public to ${role}`)
    const url = new URL(database.url)
    url.username = role
    url.password = 'hidden'
    const open = () => openDatabase({ databaseUrl: url.href, dataDir: '/nowhere', owner: true })
    await (await open()).stop()
    await database.sql`alter table balance enable row level security`
    await assert.rejects(open(), new RegExp(`hides all rows from the role ${role}`))
    await database.sql.unsafe(`create policy own on balance to ${role} using (true)`)
    await (await open()).stop()
  } finally {
    await database.sql.unsafe(`drop owned by ${role}; drop role ${role}`)
    await database.drop()
  }
})
