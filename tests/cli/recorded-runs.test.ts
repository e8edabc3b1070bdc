/** Commands that operators schedule record when they have last succeeded. */
import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Sql } from 'postgres'
import {
  readCommandSuccesses,
  upsertCommandRun,
} from '../../server/money/usage/command-run-store.ts'
import { createCaller, spend } from '../accounts/support.ts'
import { openCommandLine } from './support.ts'

interface Row {
  readonly command: string
  readonly place: string
  readonly outcome: string
  readonly version: string
  readonly finished_at: Date
  readonly succeeded_at: Date | null
}

const readRows = (sql: Sql) => sql<Row[]>`select * from command_run order by command, place`

test('an audit that finds a fault, or cannot run, keeps the time of the last clean one', async (t) => {
  const { run, sql } = await openCommandLine(t)
  const { account, key } = await createCaller(sql)
  await spend(sql, { accountId: account.id, keyId: key.id, held: 10n, charged: 4n })
  assert.equal((await run('audit', '--json')).code, 0)
  const [clean] = await readRows(sql)
  assert.deepEqual([clean?.command, clean?.place, clean?.outcome], ['audit', '', 'succeeded'])
  assert.match(clean?.version ?? '', /^\d+\.\d+/)
  await sql`update balance set available = available + 1`
  assert.equal((await run('audit')).code, 1)
  const [broken] = await readRows(sql)
  assert.equal(broken?.outcome, 'failed')
  assert.deepEqual(broken?.succeeded_at, clean?.succeeded_at)
  assert.ok(Number(broken?.finished_at) > Number(clean?.finished_at))
  await sql`update balance set available = available - 1`
  assert.equal((await run('audit', '--archives')).code, 0)
  const after = await readRows(sql)
  assert.equal(after.length, 1)
  assert.ok(Number(after[0]?.succeeded_at) > Number(clean?.succeeded_at))
})

test('a backup is recorded by machine and folder, a failed one as such', async (t) => {
  const { run, sql, folder, file } = await openCommandLine(t)
  const into = join(folder, 'nightly')
  const place = `${hostname()}:${into}`
  assert.equal((await run('backup', '--into', into)).code, 0)
  assert.equal((await run('backup', '--to', join(into, 'by-hand'))).code, 0)
  const [first] = await readRows(sql)
  assert.deepEqual([first?.command, first?.place, first?.outcome], ['backup', place, 'succeeded'])
  assert.equal((await run('backup', '--to', join(into, 'by-hand'))).code, 1)
  const beyond = join(file('a-file', 'x'), 'copy')
  assert.equal((await run('backup', '--to', beyond)).code, 1)
  const rows = await readRows(sql)
  assert.deepEqual(
    rows.map((row) => [row.outcome, row.succeeded_at === null]),
    [
      ['failed', true],
      ['failed', false],
    ],
  )
  const [success, ...others] = await readCommandSuccesses(sql)
  assert.equal(others.length, 0)
  assert.equal(Math.floor((success?.succeeded_at ?? 0) * 1000), Number(first?.succeeded_at))
})

test('a backup of a database that cannot record it succeeds and says so', async (t) => {
  const { run, sql, folder } = await openCommandLine(t)
  assert.equal((await run('account', 'create', '--name', 'Ann')).code, 0)
  await sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$
    begin raise 'read-only' using errcode = '25006'; end $$;
    create trigger refuse before insert on command_run execute function refuse()`)
  const kept = await run('backup', '--to', join(folder, 'kept'))
  assert.equal(kept.code, 0, kept.err)
  assert.match(kept.err, /the time of this backup could not be recorded: .*read-only/)
  await sql`drop table command_run`
  const older = await run('backup', '--to', join(folder, 'older'))
  assert.equal(older.code, 0, older.err)
  assert.match(older.err, /the time of this backup could not be recorded: .*command_run/)
})

test('an archive without old months is recorded, and a dry run is not', async (t) => {
  const { run, sql, folder } = await openCommandLine(t)
  assert.equal((await run('archive', 'create', '--older-than', '1m', '--dry-run')).code, 0)
  assert.deepEqual([...(await readRows(sql))], [])
  assert.equal((await run('archive', 'create', '--older-than', '1m')).code, 0)
  const [row, ...others] = await readRows(sql)
  assert.deepEqual([row?.command, row?.place], ['archive', join(folder, 'files')])
  assert.equal(others.length, 0)
})

test('the places of a command are bounded, and those that last succeeded stay', async (t) => {
  const { run, sql } = await openCommandLine(t)
  assert.equal((await run('migrate')).code, 0)
  const record = (place: string, hasSucceeded: boolean) =>
    upsertCommandRun(sql, { command: 'backup', place, hasSucceeded, version: '1' })
  await upsertCommandRun(sql, { command: 'audit', place: '', hasSucceeded: true, version: '1' })
  await record('first', true)
  for (let index = 0; index < 25; index += 1) await record(`failed-${index}`, false)
  assert.equal((await readRows(sql)).length, 21)
  await record('x'.repeat(2000), true)
  const places = (await readRows(sql)).map(({ place }) => place)
  assert.equal(places.length, 21)
  assert.ok(places.includes('first') && places.includes('x'.repeat(500)) && places.includes(''))
})
