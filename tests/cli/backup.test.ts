/** `backup` and `restore` as an operator runs them, on both kinds of database. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openDatabase } from '../../server/base/database/open.ts'
import { createSecretKey } from '../../server/base/lib/secrets/secrets.ts'
import { programEnvironment } from '../support/processes.ts'
import { openCommandLine, runWith } from './support.ts'

function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-cli-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('an embedded gateway moves to another folder, with the key to its secrets', async (t) => {
  const folder = makeFolder(t)
  const on = (name: string) => ({
    ...programEnvironment(),
    HOME: folder,
    TMPDIR: tmpdir(),
    DATA_DIR: join(folder, name),
  })
  const settings = { base_url: 'http://127.0.0.1:9', api_key: 'sk-secret' }
  const catalog = { channels: [{ id: 'c', upstream: 'openai-compatible', settings }] }
  const made = await runWith(on('old'), ['account', 'create', '--name', 'Ann', '--balance', '5'])
  assert.equal(made.code, 0, made.err)
  const path = join(folder, 'catalog.json')
  writeFileSync(path, JSON.stringify(catalog))
  const applied = await runWith(on('old'), ['apply', path])
  assert.equal(applied.code, 0, applied.err)

  const copy = join(folder, 'copy')
  const backedUp = await runWith(on('old'), ['backup', '--to', copy])
  assert.equal(backedUp.code, 0, backedUp.err)
  assert.match(backedUp.out, /copy: \d+ rows of 20/)
  assert.doesNotMatch(backedUp.out, /NOT in this backup/)
  assert.equal((await runWith(on('old'), ['backup', '--to', copy])).code, 1)
  assert.equal(backedUp.err.includes('warning'), false)
  const kept = readFileSync(join(folder, 'old', 'secret-key'))
  writeFileSync(join(folder, 'old', 'secret-key'), createSecretKey())
  const keyless = await runWith(on('old'), ['backup', '--to', join(folder, 'keyless')])
  assert.match(keyless.err, /^warning: .*secret-key does not open 1 of the 1 secrets .*channels/m)
  writeFileSync(join(folder, 'old', 'secret-key'), kept)

  const restored = await runWith(on('new'), ['restore', '--from', copy, '--json'])
  assert.equal(restored.code, 0, restored.err)
  const { audit, secret_key } = JSON.parse(restored.out)
  assert.deepEqual([audit.ok, secret_key], [true, 'restored'])
  const key = (name: string) => readFileSync(join(folder, name, 'secret-key'), 'utf8')
  assert.equal(key('new'), key('old'))
  const accounts = await runWith(on('new'), ['account', 'list', '--json'])
  assert.match(accounts.out, /"Ann"/)

  const again = await runWith(on('new'), ['restore', '--from', copy])
  assert.equal(again.code, 1)
  assert.match(again.err, /tributary: the database is not empty: .*--force\n$/)
  const gateway = await openDatabase({ dataDir: join(folder, 'new'), owner: true })
  t.after(() => gateway.stop())
  const beside = await runWith(on('new'), ['restore', '--from', copy, '--force'])
  assert.equal(beside.code, 1)
  assert.match(beside.err, /another gateway is already running/)
})

test('with DATABASE_URL the backup says that the key is elsewhere', async (t) => {
  const { run, folder, environment } = await openCommandLine(t)
  assert.equal((await run('account', 'create', '--name', 'Ann', '--balance', '5')).code, 0)
  const copy = join(folder, 'copy')
  const backedUp = await run('backup', '--to', copy)
  assert.match(backedUp.out, /The secret key is NOT in this backup: keep SECRET_KEY elsewhere/)
  assert.equal((await run('account', 'create', '--name', 'Bob')).code, 0)
  assert.equal((await run('checkpoint', 'public-key')).code, 0, 'seals a signing key')
  const sealed = join(folder, 'sealed')
  assert.equal((await run('backup', '--to', sealed)).code, 0)
  const other = { ...environment, SECRET_KEY: createSecretKey() }
  for (const flag of ['--verify', '--force']) {
    const refused = await runWith(other, ['restore', '--from', sealed, flag])
    assert.equal(refused.code, 1, flag)
    assert.doesNotMatch(refused.out, /same/)
    assert.match(refused.err, /SECRET_KEY does not open 1 of the 1 secrets .*signing keys/)
  }
  assert.equal((await run('restore', '--from', sealed, '--verify')).code, 0)
  const keyless = { ...environment, SECRET_KEY: '' }
  const restored = await runWith(keyless, ['restore', '--from', copy, '--force'])
  assert.equal(restored.code, 0, restored.err)
  assert.match(restored.out, /must be in SECRET_KEY\.\nThe audit is clean: I1, /)
  const accounts = await run('account', 'list')
  assert.match(accounts.out, /Ann/)
  assert.doesNotMatch(accounts.out, /Bob/)
})

test('backup --into names a folder by its time and keeps the newest', async (t) => {
  const { run, json, folder } = await openCommandLine(t)
  assert.equal((await run('account', 'create', '--name', 'Ann')).code, 0)
  const into = join(folder, 'backups')
  const names = ['2020-01-01T02-47-00', '2020-01-02T02-47-00', 'before-the-upgrade']
  for (const name of names) mkdirSync(join(into, name), { recursive: true })
  const first = await json('backup', '--into', into, '--keep', '2')
  assert.match(first.folder, /\/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d$/)
  assert.equal((await run('restore', '--from', first.folder, '--force')).code, 0)
  assert.deepEqual(first.removed, [join(into, '2020-01-01T02-47-00')])
  assert.deepEqual(readdirSync(into).toSorted(), [
    '2020-01-02T02-47-00',
    first.folder.slice(into.length + 1),
    'before-the-upgrade',
  ])
  for (const wrong of [[], ['--to', into, '--into', into], ['--to', into, '--keep', '2']]) {
    const refused = await run('backup', ...wrong)
    assert.equal(refused.code, 1)
    assert.match(refused.err, /name the folder: --to <folder>, or --into <folder>/)
  }
})

test('restore and restore --verify say what they compared, and what differs', async (t) => {
  const { run, json, folder, sql } = await openCommandLine(t)
  assert.equal((await run('account', 'create', '--name', 'Ann', '--balance', '5.25')).code, 0)
  const copy = join(folder, 'copy')
  assert.equal((await run('backup', '--to', copy)).code, 0)
  await sql.unsafe('drop schema public cascade; create schema public')

  const restored = await run('restore', '--from', copy, '--verify')
  assert.equal(restored.code, 0, restored.err)
  assert.match(restored.out, /^Restored the state of 20/)
  for (const line of [
    /^account +1 +1 +[0-9a-f]{16} +same$/m,
    /^entry +1 +1 +[0-9a-f]{16} +same$/m,
    /^\d+ tables, \d+ rows; \d+ tables are empty in both\.$/m,
    /^balance\.available +CNY +5\.25 +5\.25 +same$/m,
    /^entry\.amount +CNY +5\.25 +5\.25 +same$/m,
    /^Everything is the same\.$/m,
    /^The audit is clean: I1, /m,
  ]) {
    assert.match(restored.out, line)
  }

  const same = await json('restore', '--from', copy, '--verify')
  assert.deepEqual([same.compared.same, same.audit.ok], [true, true])
  await sql`insert into owner (id, lease_until) values ('own_idle', now())`
  assert.equal((await run('restore', '--from', copy, '--verify')).code, 0, 'a lease is no change')
  assert.equal((await run('account', 'create', '--name', 'Bob')).code, 0)
  const different = await run('restore', '--from', copy, '--verify')
  assert.equal(different.code, 1)
  assert.match(different.out, /^account +1 +2 +[0-9a-f]{16} +DIFFERENT$/m)
  assert.match(different.out, /NOT what was backed up/)
  const accounts = await json('account', 'list')
  assert.equal(accounts.length, 2, 'comparing changes nothing')

  const replaced = await run('restore', '--from', copy, '--verify', '--force')
  assert.equal(replaced.code, 0, replaced.err)
  assert.match(replaced.out, /Everything is the same\./)
  assert.equal((await json('account', 'list')).length, 1)
})
