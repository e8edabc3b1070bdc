/** What a backup and a restore refuse, and that a refusal changes nothing. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { backup } from '../../../server/base/database/backup/backup.ts'
import { restore } from '../../../server/base/database/backup/restore.ts'
import { createSecretBox, createSecretKey } from '../../../server/base/lib/secrets/secrets.ts'
import { audit } from '../../../server/money/ledger/audit/audit.ts'
import { digestTables, MIGRATIONS, makeEmpty, makeFolder, makeSource } from './support.ts'

async function makeBackup(t: TestContext) {
  const source = await makeSource(t)
  const folder = makeFolder(t)
  const from = join(folder, 'copy')
  await backup({ place: source.place, kind: 'embedded', target: from })
  return { source, folder, from }
}

const DAMAGES: readonly (readonly [name: string, harm: (from: string) => void, says: RegExp])[] = [
  [
    'a changed byte',
    (from) => changeByte(join(from, 'entry.copy')),
    /entry\.copy does not match its checksum/,
  ],
  [
    'a file cut short',
    (from) => cutShort(join(from, 'balance.copy')),
    /balance\.copy does not match/,
  ],
  ['a missing file', (from) => rmSync(join(from, 'account.copy')), /account\.copy is missing/],
  ['no manifest', (from) => rmSync(join(from, 'manifest.json')), /is not a backup/],
  ['a manifest cut short', (from) => cutShort(join(from, 'manifest.json')), /is damaged/],
  [
    'a format to come',
    (from) => edit(join(from, 'manifest.json'), '"format": 1', '"format": 2'),
    /has format 2, this version reads 1/,
  ],
  [
    'a table that leads out of the folder',
    (from) => edit(join(from, 'manifest.json'), '"name": "account"', '"name": "../account"'),
    /is damaged/,
  ],
]

test('a damaged backup is refused before the database is touched', async (t) => {
  const { folder, from } = await makeBackup(t)
  const { sql, place } = await makeEmpty(t)
  for (const [name, harm, says] of DAMAGES) {
    const harmed = join(folder, 'harmed')
    rmSync(harmed, { recursive: true, force: true })
    cpSync(from, harmed, { recursive: true })
    harm(harmed)
    const restoring = restore({ place, from: harmed, migrations: MIGRATIONS, force: true })
    await assert.rejects(restoring, { name: 'DatabaseProblem', message: says }, name)
  }
  assert.deepEqual(await digestTables(sql), {})
})

test('a database that is not empty is replaced only by force, one in use not at all', async (t) => {
  const { source, from } = await makeBackup(t)
  const { sql, place } = source
  const kept = await digestTables(sql)
  await sql`insert into account (id, name) values ('acct_new', 'after the backup')`
  const options = { place, from, migrations: MIGRATIONS }
  await assert.rejects(restore(options), /is not empty: restore into a new one, or .* --force/)
  await sql`insert into owner (id, lease_until) values ('own_1', now() + interval '1 minute')`
  await assert.rejects(
    restore({ ...options, force: true }),
    /gateways still run on this database \(1\)/,
  )
  await sql`delete from owner`
  await restore({ ...options, force: true })
  assert.deepEqual(await digestTables(sql), kept)
})

test('rows that do not belong together are refused, and the old state stays', async (t) => {
  const { source, from } = await makeBackup(t)
  const before = await digestTables(source.sql)
  const manifest = join(from, 'manifest.json')
  const stated = JSON.parse(readFileSync(manifest, 'utf8'))
  writeFileSync(join(from, 'account.copy'), '')
  const sha256 = createHash('sha256').digest('hex')
  const tables = stated.tables.map((table: { name: string }) =>
    table.name === 'account' ? { ...table, rows: 0, bytes: 0, sha256 } : table,
  )
  writeFileSync(manifest, JSON.stringify({ ...stated, tables }))
  const options = { place: source.place, from, migrations: MIGRATIONS, force: true }
  await assert.rejects(restore(options), { code: '23503' })
  assert.deepEqual(await digestTables(source.sql), before)
  assert.ok((await audit(source.sql)).ok)
})

test('a backup of an older version is brought up to date, of a newer one refused', async (t) => {
  const { folder, from } = await makeBackup(t)
  const newer = join(folder, 'newer')
  cpSync(MIGRATIONS, newer, { recursive: true })
  writeFileSync(join(newer, '9999-later.sql'), 'create table later (id integer);')
  const { place } = await makeEmpty(t)
  const restored = await restore({ place, from, migrations: newer })
  assert.deepEqual(restored.migrated, ['9999-later.sql'])

  const older = join(folder, 'older')
  mkdirSync(older)
  const [first] = readdirSync(MIGRATIONS).sort()
  assert.ok(first)
  copyFileSync(join(MIGRATIONS, first), join(older, first))
  const refused = restore({ place, from, migrations: older, force: true })
  await assert.rejects(refused, /was made by a newer version: it has 0002/)
})

test('a backup of another history is told from a newer one, and where its data can go', async (t) => {
  const { from } = await makeBackup(t)
  const manifest = join(from, 'manifest.json')
  const stated = JSON.parse(readFileSync(manifest, 'utf8'))
  const { place } = await makeEmpty(t)
  const history = async (migrations: readonly object[]) => {
    writeFileSync(manifest, JSON.stringify({ ...stated, migrations }))
    const restored = restore({ place, from, migrations: MIGRATIONS })
    return await restored.then(String, (error) => String(error.message))
  }
  const sha256 = '0'.repeat(64)
  const foreign =
    /it was made before 0\.2\.0, or by .*no version upgrades it.*"Data from before 0\.2\.0"/
  assert.match(await history([{ name: '0001-core.sql', sha256 }]), foreign)
  assert.match(await history([{ ...stated.migrations[0], sha256 }]), foreign)
  assert.match(
    await history([{ name: '9999-later.sql', sha256 }]),
    /by a newer version: it has 9999/,
  )
})

test('a SECRET_KEY that leaves a secret of the backup closed is refused', async (t) => {
  const source = await makeSource(t)
  const [key, other] = [createSecretKey(), createSecretKey()]
  const seal = (secretKey: string) => createSecretBox([secretKey]).seal('whsec_1', 'place')
  await source.sql`update account set webhook_secret = ${seal(key)} where id = 'acct_a'`
  await source.sql`update account set webhook_secret = ${seal(other)} where id = 'acct_b'`
  const from = join(makeFolder(t), 'copy')
  await backup({ place: source.place, kind: 'external', target: from })
  const { place, sql } = await makeEmpty(t)
  const attempt = (...secretKeys: string[]) =>
    restore({ place, from, migrations: MIGRATIONS, force: true, secretKeys })
  await assert.rejects(attempt(key), {
    name: 'DatabaseProblem',
    message:
      /does not open 1 of the 2 secrets in this backup \(webhook secrets\): nothing was changed/,
  })
  await assert.rejects(attempt(createSecretKey()), /does not open 2 of the 2 secrets/)
  assert.deepEqual(await digestTables(sql), {})
  await attempt(key, other)
  await restore({ place, from, migrations: MIGRATIONS, force: true })
})

test('a backup never overwrites files, and leaves nothing incomplete', async (t) => {
  const { source, folder, from } = await makeBackup(t)
  const again = backup({ place: source.place, kind: 'embedded', target: from })
  await assert.rejects(again, /is not empty: name a new folder/)
  const empty = await makeEmpty(t)
  const target = join(folder, 'of-nothing')
  const ofNothing = backup({ place: empty.place, kind: 'embedded', target })
  await assert.rejects(ofNothing, /there is nothing to back up/)
  assert.deepEqual(readdirSync(folder), ['copy'])
  assert.ok(!existsSync(target))
})

function changeByte(path: string): void {
  const bytes = readFileSync(path)
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

function cutShort(path: string): void {
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.subarray(0, bytes.length - 2))
}

function edit(path: string, from: string, to: string): void {
  const text = readFileSync(path, 'utf8')
  assert.ok(text.includes(from))
  writeFileSync(path, text.replace(from, to))
}
