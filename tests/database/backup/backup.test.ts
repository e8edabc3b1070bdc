/** A backup comes back as it was: under load, with odd values, and with every guard in place. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { backup } from '../../../server/base/database/backup/backup.ts'
import { restore } from '../../../server/base/database/backup/restore.ts'
import { audit } from '../../../server/money/ledger/audit/audit.ts'
import { startSweeper } from '../../../server/money/ledger/leases/sweeper.ts'
import { takeHolds } from '../../../server/money/ledger/posting/move-store.ts'
import { LEASES } from '../../ledger/support.ts'
import {
  digestTables,
  holdRow,
  MIGRATIONS,
  makeEmpty,
  makeFolder,
  makeSource,
  settle,
  startWorkload,
} from './support.ts'

const quiet = { info: () => undefined, warn: () => undefined }

test('a backup taken under load is one instant: restored, its books are in order', async (t) => {
  const source = await makeSource(t)
  const target = join(makeFolder(t), 'copy')
  const workload = startWorkload(source.sql)
  await waitForEntries(source.sql, 300)
  const manifest = await backup({ place: source.place, kind: 'embedded', target })
  const taken = await workload.stop()
  const rowsOf = (name: string) => manifest.tables.find((table) => table.name === name)?.rows ?? 0
  assert.ok(rowsOf('hold') > 0 && rowsOf('hold') < taken, `${rowsOf('hold')} of ${taken} holds`)

  const { sql, place } = await makeEmpty(t)
  const restored = await restore({ place, from: target, migrations: MIGRATIONS })
  assert.equal(restored.secretKey, 'missing')
  const { ok, checks } = await audit(sql)
  assert.ok(ok, JSON.stringify(checks.filter((check) => !check.ok)))

  const [open] = await sql`select count(*)::int as holds from hold where state = 'open'`
  assert.ok(open?.holds > 0, 'some holds were open at that instant')
  const sweeper = await startSweeper({
    sql,
    ownerId: 'own_new',
    address: 'test',
    exclusive: true,
    log: quiet,
    ...LEASES,
  })
  // The sweeper leaves alone what is younger than a second.
  let closed = 0
  while (closed < open?.holds) closed += await sweeper.sweep()
  await sweeper.stop()
  assert.ok((await audit(sql)).ok)
})

test('every row and every kind of value comes back, and the guards with them', async (t) => {
  const source = await makeSource(t)
  await fillWithOddities(source.sql)
  const target = join(makeFolder(t), 'copy')
  await backup({ place: source.place, kind: 'external', target })
  const { sql, place } = await makeEmpty(t)
  await restore({ place, from: target, migrations: MIGRATIONS })
  assert.deepEqual(await digestTables(sql), await digestTables(source.sql))

  await assert.rejects(sql`delete from entry`, { code: '42501' })
  await assert.rejects(
    sql`insert into api_key (id, account_id, hash, display) values ('k', 'nobody', 'x', 'x')`,
    { code: '23503' },
  )
  const before = await sql`select max(id) as id from entry`
  await takeHolds(sql, [holdRow('hold_after', 'acct_a', 5)])
  await settle(sql, ['hold_after'], 5)
  const after = await sql`select min(id) as id from entry where posting = 'hold_after'`
  assert.ok(after[0]?.id > before[0]?.id, 'numbering goes on')
})

test('rows of megabytes do not block the connection that copies them', async (t) => {
  const source = await makeSource(t)
  await source.sql`insert into idempotency
    (account_id, key, route, fingerprint, request_id, hold_id, body)
    select 'acct_a', n, 'r', 'f', 'r', 'h', convert_to(repeat('x', 1000000), 'UTF8')
    from generate_series(1, 12) as n`
  const folder = makeFolder(t)
  for (let round = 0; round < 4; round += 1) {
    const target = join(folder, String(round))
    const { tables } = await backup({ place: source.place, kind: 'embedded', target })
    assert.equal(tables.find(({ name }) => name === 'idempotency')?.rows, 12)
  }
  const { sql, place } = await makeEmpty(t)
  await restore({ place, from: join(folder, '0'), migrations: MIGRATIONS })
  assert.deepEqual(await digestTables(sql), await digestTables(source.sql))
})

test('the secret key travels with an embedded backup, for its owner alone', async (t) => {
  const source = await makeSource(t)
  const folder = makeFolder(t)
  const oldKey = join(folder, 'secret-key')
  writeFileSync(oldKey, 'the-key-of-the-old-machine\n', { mode: 0o600 })
  const from = join(folder, 'copy')
  const kind = 'embedded'
  await backup({ place: source.place, kind, target: from, secretKeyPath: oldKey })
  for (const name of readdirSync(from)) {
    assert.equal(statSync(join(from, name)).mode & 0o077, 0, `${name} is for its owner alone`)
  }
  assert.equal(statSync(from).mode & 0o077, 0)

  const { place } = await makeEmpty(t)
  const newKey = join(folder, 'new', 'secret-key')
  mkdirSync(join(folder, 'new'))
  writeFileSync(newKey, 'another-key-that-is-in-use\n', { mode: 0o600 })
  const options = { place, from, migrations: MIGRATIONS, secretKeyPath: newKey }
  await assert.rejects(restore(options), /a different key than the backup/)
  const restored = await restore({ ...options, force: true })
  assert.equal(restored.secretKey, 'restored')
  assert.equal(readFileSync(newKey, 'utf8'), 'the-key-of-the-old-machine\n')
  assert.equal(statSync(newKey).mode & 0o777, 0o600)
  assert.ok(existsSync(`${newKey}.replaced`), 'the key that was there is kept')
})

async function waitForEntries(sql: Parameters<typeof audit>[0], least: number): Promise<void> {
  for (;;) {
    const [row] = await sql<{ count: number }[]>`select count(*)::int as count from entry`
    if (row && row.count >= least) return
  }
}

/** Values that a careless copy changes. */
async function fillWithOddities(sql: Parameters<typeof audit>[0]): Promise<void> {
  const everyByte = Buffer.from(Array.from({ length: 256 }, (_, index) => index))
  const texts = [
    'tab\there',
    'two\r\nlines',
    '\\N',
    '\\',
    '\\.',
    '',
    ' ',
    '\u2028',
    '你好 😀',
    '{"a"}',
  ]
  for (const [index, text] of texts.entries()) {
    await sql`insert into idempotency
      (account_id, key, route, fingerprint, request_id, hold_id, body, content_type)
      values ('acct_a', ${text}, 'test', ${everyByte}, ${`req_${index}`}, 'hold', ${everyByte}, null)`
    await sql`insert into model (id, type, details, limits)
      values (${text}, 'chat', ${sql.json({ text, none: null })}, 'null'::jsonb)`
  }
  await sql`insert into api_key (id, account_id, hash, display, models, replaced_by, limits)
    values ('key_1', 'acct_a', ${everyByte}, 'tr-…', ${texts}, null, '{}'),
      ('key_2', 'acct_a', 'two', 'tr-…', '{}', 'key_1', '{}')`
  await sql`update api_key set replaced_by = 'key_2' where id = 'key_1'`
  await sql`update account set created_at = '0044-03-15 12:00:00.123456+00 BC' where id = 'acct_b'`
  await sql`update account set created_at = 'infinity' where id = 'acct_c'`
}
