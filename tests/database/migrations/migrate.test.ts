/** Migrations under two migrators at once, kill -9 in the middle, and files that do not fit. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect } from '../../../server/base/database/connection/client.ts'
import { migrate, watchCompatibility } from '../../../server/base/database/migrations/migrate.ts'
import { withMigrationLock } from '../../../server/base/database/migrations/migration-store.ts'
import { DatabaseProblem } from '../../../server/base/database/problem.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { startProcess } from '../../support/processes.ts'
import { until } from '../../support/until.ts'

const MIGRATOR = join(import.meta.dirname, '..', '..', 'support', 'database', 'migrate-process.ts')

/** An empty database and a folder for migrations. */
async function prepare(t: TestContext) {
  const database = await createTestDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'tributary-migrations-'))
  t.after(async () => {
    rmSync(folder, { recursive: true })
    await database.drop()
  })
  await database.sql`drop schema public cascade`
  await database.sql`create schema public`
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  return { ...database, folder, write }
}

test('each file is applied once, in the order of the numbers', async (t) => {
  const { sql, folder, write } = await prepare(t)
  write('0002-fruit-colour.sql', "alter table fruit add colour text default 'red';")
  write('0001-fruit.sql', 'create table fruit (name text); insert into fruit values ($$fig$$);')
  write('notes.txt', 'no migration')
  assert.deepEqual((await migrate(sql, folder)).applied, [
    '0001-fruit.sql',
    '0002-fruit-colour.sql',
  ])
  assert.deepEqual((await migrate(sql, folder)).applied, [])
  write('0003-more.sql', "insert into fruit values ('plum', 'blue');")
  assert.deepEqual((await migrate(sql, folder)).applied, ['0003-more.sql'])
  const rows = await sql`select name, colour from fruit order by name`
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [
      { name: 'fig', colour: 'red' },
      { name: 'plum', colour: 'blue' },
    ],
  )
})

test('five migrators at once apply every file once between them', async (t) => {
  const { sql, place, folder, write } = await prepare(t)
  for (let number = 1; number <= 6; number += 1) {
    write(`000${number}-step.sql`, `create table step_${number} ();`)
  }
  const pools = Array.from({ length: 5 }, () => connect(place, { connections: 1, patient: true }))
  const migrated = await Promise.all(pools.map((pool) => migrate(pool, folder)))
  await Promise.all(pools.map((pool) => pool.end()))
  const applied = migrated.flatMap((one) => one.applied)
  assert.equal(new Set(applied).size, 6)
  assert.equal(applied.length, 6)
  const [row] = await sql<{ count: bigint }[]>`select count(*) from schema_migration`
  assert.equal(row?.count, 6n)
})

test('a file with an error leaves nothing of itself, and all before it', async (t) => {
  const { sql, folder, write } = await prepare(t)
  write('0001-good.sql', 'create table good ();')
  write('0002-bad.sql', 'create table half (); select 1 / 0;')
  await assert.rejects(migrate(sql, folder), /division by zero/)
  const [row] = await sql`select to_regclass('good') as good, to_regclass('half') as half`
  assert.deepEqual({ ...row }, { good: 'good', half: null })
  write('0002-bad.sql', 'create table half ();')
  assert.deepEqual((await migrate(sql, folder)).applied, ['0002-bad.sql'])
})

test('kill -9 in the middle leaves nothing half done, and the next migrator goes on', async (t) => {
  const { sql, url, folder, write } = await prepare(t)
  write('0001-first.sql', 'create table first ();')
  write('0002-slow.sql', 'create table slow (); select pg_sleep(30);')
  const migrator = await startProcess([process.execPath, MIGRATOR, url, folder])
  const backend = await until('the slow migration', async () => {
    const [row] = await sql<{ pid: number }[]>`
      select pid from pg_stat_activity
      where state = 'active' and query like '%pg_sleep(30)%' and pid <> pg_backend_pid()`
    return row?.pid
  })
  migrator.signal('SIGKILL')
  await migrator.exited
  // What a killed client leaves behind ends by itself when it next writes; we do not wait for that.
  await sql`select pg_terminate_backend(${backend}::int)`
  write('0002-slow.sql', 'create table slow ();')
  await until('the end of the old transaction', async () => {
    const rows = await sql`select 1 from pg_stat_activity where pid = ${backend}::int`
    return rows.length === 0 ? true : undefined
  })
  const [row] = await sql`select to_regclass('first') as first, to_regclass('slow') as slow`
  assert.deepEqual({ ...row }, { first: 'first', slow: null })
  assert.deepEqual((await migrate(sql, folder)).applied, ['0002-slow.sql'])
})

test('a table that another session reads holds up the migration and no statement of others', async (t) => {
  const { sql, folder, write } = await prepare(t)
  write('0001-fruit.sql', 'create table fruit (name text);')
  await migrate(sql, folder)
  write('0002-colour.sql', 'alter table fruit add colour text;')
  const idle = Promise.withResolvers<void>()
  const reading = Promise.withResolvers<number>()
  const end = Promise.withResolvers<void>()
  const idler = sql.begin(async (transaction) => {
    await transaction`select now()`
    idle.resolve()
    await end.promise
  })
  await idle.promise
  const reader = sql.begin(async (transaction) => {
    const [row] = await transaction<{ pid: number }[]>`
      select pg_backend_pid() as pid, (select count(*) from fruit) as fruit`
    reading.resolve(row?.pid ?? 0)
    await end.promise
  })
  const pid = await reading.promise
  const inUse = new RegExp(
    `in use: process ${pid} of the database \\(.+\\) has a transaction since \\d{4}-`,
  )
  const told: string[] = []
  const migration = migrate(sql, folder, { onWaiting: (message) => told.push(message) })
  try {
    await until('what it waits for', async () => told.length > 0)
    assert.match(told[0] ?? '', inUse)
    await sql`insert into fruit values ('fig')`
    await assert.rejects(migrate(sql, folder, { lockedMsMax: 0 }), (error) => {
      assert.ok(error instanceof DatabaseProblem)
      assert.match(
        error.message,
        /could not be changed in time: process \d+ .*pg_terminate_backend/,
      )
      return true
    })
  } finally {
    end.resolve()
    await Promise.all([idler, reader])
  }
  assert.deepEqual((await migration).applied, ['0002-colour.sql'])
})

test('a migrator that waits for another one says so once', async (t) => {
  const { sql, folder, write } = await prepare(t)
  write('0001-fruit.sql', 'create table fruit (name text);')
  const held = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const other = withMigrationLock(sql, async () => {
    held.resolve()
    await end.promise
  })
  await held.promise
  const told: string[] = []
  const migration = migrate(sql, folder, { onWaiting: (message) => told.push(message) })
  await until('what it waits for', async () => told.length > 0)
  end.resolve()
  await other
  assert.deepEqual((await migration).applied, ['0001-fruit.sql'])
  assert.deepEqual(told, ['waiting for another process that migrates this database'])
})

test('a file that was changed after it had been applied is named and refused', async (t) => {
  const { sql, folder, write } = await prepare(t)
  write('0001-one.sql', 'create table one ();')
  await migrate(sql, folder)
  write('0001-one.sql', 'create table one (two int);')
  await assert.rejects(migrate(sql, folder), (error) => {
    assert.ok(error instanceof DatabaseProblem)
    assert.match(error.message, /0001-one\.sql was changed/)
    return true
  })
})

test('a database that has what the code lacks between its own files is refused', async (t) => {
  const { sql, folder, write } = await prepare(t)
  write('0001-one.sql', 'create table one ();')
  write('0002-two.sql', 'create table two ();')
  await migrate(sql, folder)
  rmSync(join(folder, '0002-two.sql'))
  write('0003-three.sql', 'create table three ();')
  await assert.rejects(migrate(sql, folder), /the database has 0002-two\.sql, .*"Data from before/)
  const [row] = await sql`select to_regclass('three') as three`
  assert.equal(row?.three, null)
})

test('an older version goes on with a newer schema until one declares it too old', async (t) => {
  const { sql, folder, write } = await prepare(t)
  const isTooOld = () => watchCompatibility(sql, folder)()
  write('0001-one.sql', 'create table one ();')
  await migrate(sql, folder)
  write('0002-two.sql', 'alter table one add two int;')
  await migrate(sql, folder)
  rmSync(join(folder, '0002-two.sql'))
  assert.deepEqual(await migrate(sql, folder), {
    applied: [],
    functions: [],
    newer: ['0002-two.sql'],
  })
  assert.equal(await isTooOld(), undefined)

  write('0002-two.sql', 'alter table one add two int;')
  write('0003-three.sql', '-- Drops what 0001 needs.\n-- oldest compatible schema: 0002\n')
  await migrate(sql, folder)
  rmSync(join(folder, '0003-three.sql'))
  assert.deepEqual(await migrate(sql, folder), {
    applied: [],
    functions: [],
    newer: ['0003-three.sql'],
  })
  assert.equal(await isTooOld(), undefined)

  rmSync(join(folder, '0002-two.sql'))
  await assert.rejects(migrate(sql, folder), (error) => {
    assert.ok(error instanceof DatabaseProblem)
    assert.match(error.message, /0003-three\.sql, which works with schema 0002 and newer/)
    return true
  })
  assert.match((await isTooOld()) ?? '', /works with schema 0002 and newer, this version has 0001/)
})

test('a list of migrations without their oldest schema gets it', async (t) => {
  const { sql, folder, write } = await prepare(t)
  write('0001-one.sql', 'create table one ();')
  await migrate(sql, folder)
  await sql`alter table schema_migration drop oldest_compatible`
  assert.deepEqual(await migrate(sql, folder), { applied: [], functions: [], newer: [] })
})
