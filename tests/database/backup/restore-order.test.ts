/** A restore compares rows, not places: PostgreSQL stores loaded rows where it has room. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { Sql } from 'postgres'
import { backup } from '../../../server/base/database/backup/backup.ts'
import { type Comparison, compareWithBackup } from '../../../server/base/database/backup/compare.ts'
import { restore } from '../../../server/base/database/backup/restore.ts'
import { createRowSetMeter } from '../../../server/base/database/backup/row-set.ts'
import { audit } from '../../../server/money/ledger/audit/audit.ts'
import { digestTables, MIGRATIONS, makeEmpty, makeFolder, makeSource } from './support.ts'

/** The order in which a scan meets the rows of a table. */
async function readOrder(sql: Sql): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`select key from idempotency`
  return rows.map(({ key }) => key)
}

test('rows of mixed widths, some deleted, come back although their places change', async (t) => {
  const source = await makeSource(t)
  const { sql } = source
  await sql`insert into idempotency (account_id, key, route, fingerprint, request_id, hold_id, body)
    select 'acct_a', n, 'r', 'f', 'r', 'h',
      convert_to(repeat(md5(n::text), 1 + (n * 7919) % 50), 'UTF8')
    from generate_series(1, 4000) as n`
  await sql`delete from idempotency where key::int % 3 = 0`
  await sql`vacuum idempotency`
  await sql`insert into idempotency (account_id, key, route, fingerprint, request_id, hold_id, body)
    select 'acct_b', n, 'r', 'f', 'r', 'h', convert_to(repeat('y', (n * 31) % 900), 'UTF8')
    from generate_series(5001, 6000) as n`
  const target = join(makeFolder(t), 'copy')
  await backup({ place: source.place, kind: 'external', target })
  const empty = await makeEmpty(t)
  const restored = await restore({ place: empty.place, from: target, migrations: MIGRATIONS })
  assert.notDeepEqual(await readOrder(empty.sql), await readOrder(sql), 'the places changed')
  assert.deepEqual(await digestTables(empty.sql), await digestTables(sql))
  assert.ok(restored.compared.same)
})

test('a backup of an earlier version comes back, and is brought up to date', async (t) => {
  const from = makeFolder(t)
  for (const [name, text] of Object.entries(readOldBackup())) writeFileSync(join(from, name), text)
  const { sql, place } = await makeEmpty(t)
  const { compared, migrated } = await restore({ place, from, migrations: MIGRATIONS })
  assert.ok(compared.same)
  assert.equal(compared.tables.find(({ name }) => name === 'idempotency')?.database?.rows, 110)
  assert.ok(!migrated.includes('0013-sealed-books.sql'))
  assert.ok((await audit(sql)).ok)
})

/** Made by the version whose last migration is 0013; its rows come back at other places. */
function readOldBackup(): Record<string, string> {
  const path = join(import.meta.dirname, 'fixtures', 'backup-of-0013.json.gz')
  return JSON.parse(gunzipSync(readFileSync(path)).toString('utf8'))
}

test('a database that differs from its backup in one byte or one row is detected', async (t) => {
  const { sql, place } = await makeSource(t)
  const from = join(makeFolder(t), 'copy')
  const manifest = await backup({ place, kind: 'external', target: from })
  const compare = async () => {
    const compared = await compareWithBackup(sql, manifest, from)
    assert.ok(compared)
    return compared
  }
  assert.ok((await compare()).same)

  await sql`update account set name = 'tesu' where id = 'acct_b'`
  const changed = await compare()
  assert.deepEqual(differing(changed), ['account: 3, 3'])
  await sql`update account set name = 'test' where id = 'acct_b'`
  assert.ok((await compare()).same, 'the row lies elsewhere and is the same again')

  await sql`update balance set available = available + 1 where account_id = 'acct_a'`
  const more = await compare()
  assert.deepEqual(differing(more), ['balance: 3, 3'])
  assert.deepEqual(
    more.sums.filter(({ same }) => !same).map((sum) => [sum.column, sum.database - sum.backup]),
    [['available', 1n]],
  )
  await sql`update balance set available = available - 1 where account_id = 'acct_a'`
  await sql`insert into account (id, name) values ('acct_d', 'new')`
  assert.deepEqual(differing(await compare()), ['account: 3, 4'])
  await sql`delete from account where id = 'acct_d'`
  await sql`create table later (id integer)`
  await sql`alter table redeem_code rename column note to notes`
  const reshaped = await compare()
  assert.deepEqual(differing(reshaped), ['redeem_code: 0, undefined'])
  assert.deepEqual(reshaped.newerTables, ['later'])
})

function differing({ tables }: Comparison): string[] {
  const different = tables.filter(({ same }) => !same)
  return different.map(({ name, backup, database }) => `${name}: ${backup.rows}, ${database?.rows}`)
}

test('the digest of rows ignores their order and nothing else', () => {
  const digest = (rows: readonly Uint8Array[]) => {
    const meter = createRowSetMeter()
    for (const row of rows) meter.add(Buffer.from(row))
    return meter.read()
  }
  const rowsOf = fc.array(fc.uint8Array({ maxLength: 4 }), { maxLength: 12 })
  const sorted = (rows: readonly Uint8Array[]) =>
    rows.map((row) => Buffer.from(row).toString('hex')).sort()
  fc.assert(
    fc.property(rowsOf, rowsOf, fc.integer(), (rows, others, turn) => {
      const at = rows.length === 0 ? 0 : Math.abs(turn) % rows.length
      const turned = [...rows.slice(at), ...rows.slice(0, at)].reverse()
      assert.deepEqual(digest(turned), digest(rows))
      const sameRows = isDeepStrictEqual(sorted(rows), sorted(others))
      assert.equal(isDeepStrictEqual(digest(rows), digest(others)), sameRows)
      if (rows[0]) assert.notDeepEqual(digest([...rows, rows[0], rows[0]]), digest(rows))
    }),
    { numRuns: 500 },
  )
})

test('the digest carries: sums of words larger than 32 bits are not lost', () => {
  const meter = createRowSetMeter()
  const row = Buffer.from('row')
  const count = 2 ** 20 + 5
  for (let index = 0; index < count; index += 1) meter.add(row)
  const one = BigInt(`0x${hash('sha256', row)}`)
  const sum = ((one * BigInt(count)) % (1n << 256n)).toString(16).padStart(64, '0')
  assert.deepEqual(meter.read(), { rows: count, digest: sum })
})
