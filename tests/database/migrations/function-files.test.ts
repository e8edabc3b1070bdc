/** Functions in files: applied when they change, once, and never put back by an older version. */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Sql } from 'postgres'
import { connect } from '../../../server/base/database/connection/client.ts'
import { readFunctionFiles } from '../../../server/base/database/migrations/function-files.ts'
import { migrate } from '../../../server/base/database/migrations/migrate.ts'
import { DatabaseProblem } from '../../../server/base/database/problem.ts'
import { createTestDatabase } from '../../support/postgres.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const LIST = '0033-functions-in-files.sql'
const DEFINITION = /^create or replace (?:function|aggregate) (\w+)\(/gm

/** An empty database, and versions of the program that have one migration and no function. */
async function prepare(t: TestContext) {
  const database = await createTestDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'tributary-functions-'))
  t.after(async () => {
    rmSync(folder, { recursive: true })
    await database.drop()
  })
  await database.sql`drop schema public cascade`
  await database.sql`create schema public`
  const createVersion = (name: string) => {
    const migrations = join(folder, name, 'migrations')
    mkdirSync(migrations, { recursive: true })
    cpSync(join(ROOT, 'migrations', LIST), join(migrations, LIST))
    return {
      migrations,
      /** `file` is a folder and a name. */
      write(file: string, revision: number, text: string) {
        const [owner = '', base = ''] = file.split('/')
        const place = join(folder, name, 'server', owner, 'sql')
        mkdirSync(place, { recursive: true })
        writeFileSync(join(place, base), `-- revision ${revision}\n${text}`)
      },
      migrate: (sql: Sql = database.sql) => migrate(sql, migrations),
    }
  }
  return { ...database, createVersion }
}

const colour = (is: string) =>
  `create or replace function colour() returns text language sql as $$ select '${is}' $$;`

async function readColour(sql: Sql) {
  const [row] = await sql<{ colour: string }[]>`select colour()`
  return row?.colour
}

test('every function is defined by a file, but for the conditions of tables', async (t) => {
  const { sql, drop } = await createTestDatabase()
  t.after(drop)
  const defined = readFunctionFiles(join(ROOT, 'server')).flatMap(({ text }) =>
    [...text.matchAll(DEFINITION)].map(([, name]) => name),
  )
  const listed = await sql<{ name: string; forms: number; conditions: number }[]>`
    select p.proname::text as name, count(distinct p.oid)::int as forms,
      count(distinct d.objid)::int as conditions
    from pg_proc p
    left join pg_depend d on d.refclassid = 'pg_proc'::regclass and d.refobjid = p.oid
      and d.classid = 'pg_constraint'::regclass
    where p.pronamespace = current_schema()::regnamespace
    group by 1`
  const found = listed.filter(({ conditions }) => conditions === 0)
  const names = found.flatMap(({ name, forms }) => Array<string>(forms).fill(name))
  assert.deepEqual(names.sort(), defined.sort())
  assert.deepEqual(
    listed
      .filter(({ conditions }) => conditions > 0)
      .map(({ name }) => name)
      .sort(),
    ['is_call', 'is_entry', 'is_hold'],
  )
})

test('the newest text of each function is that of its file', async (t) => {
  const { sql, drop } = await createTestDatabase()
  t.after(drop)
  const read = () => sql<{ name: string; text: string }[]>`
    select oid::regprocedure::text as name, prosrc as text from pg_proc
    where pronamespace = current_schema()::regnamespace order by 1`
  const before = [...(await read())]
  for (const { text } of readFunctionFiles(join(ROOT, 'server'))) await sql.unsafe(text)
  assert.deepEqual([...(await read())], before)
})

test('a changed file is applied at the next start, and once', async (t) => {
  const { sql, createVersion } = await prepare(t)
  const version = createVersion('one')
  version.write('fruit/colour.sql', 1, colour('red'))
  version.write('fruit/other.sql', 1, 'create function other() returns int return 1;')
  const names = ['fruit/colour.sql', 'fruit/other.sql']
  assert.deepEqual(await version.migrate(), { applied: [LIST], functions: names, newer: [] })
  assert.deepEqual((await version.migrate()).functions, [])
  version.write('fruit/colour.sql', 2, colour('green'))
  assert.deepEqual((await version.migrate()).functions, ['fruit/colour.sql'])
  assert.equal(await readColour(sql), 'green')
  assert.deepEqual((await version.migrate()).functions, [])
  // As while it is being written.
  version.write('fruit/colour.sql', 2, colour('blue'))
  assert.deepEqual((await version.migrate()).functions, ['fruit/colour.sql'])
  assert.equal(await readColour(sql), 'blue')
})

test('a file that takes back a change is newer, too', async (t) => {
  const { sql, createVersion } = await prepare(t)
  const [first, second, third] = [createVersion('1'), createVersion('2'), createVersion('3')]
  first.write('fruit/colour.sql', 1, colour('red'))
  second.write('fruit/colour.sql', 2, colour('green'))
  third.write('fruit/colour.sql', 3, colour('red'))
  for (const version of [first, third, second, first]) await version.migrate()
  assert.equal(await readColour(sql), 'red')
})

test('gateways that start at once apply a file once between them', async (t) => {
  const { sql, place, createVersion } = await prepare(t)
  const version = createVersion('one')
  version.write('fruit/colour.sql', 1, colour('red'))
  await version.migrate()
  // Plain `create` fails where it stands already.
  version.write('fruit/colour.sql', 2, `${colour('green')} create table twice ();`)
  const pools = Array.from({ length: 5 }, () => connect(place, { connections: 1, patient: true }))
  const migrated = await Promise.all(pools.map(version.migrate))
  await Promise.all(pools.map((pool) => pool.end()))
  assert.deepEqual(
    migrated.flatMap(({ functions }) => functions),
    ['fruit/colour.sql'],
  )
  assert.equal(await readColour(sql), 'green')
})

test('a file that fails leaves all functions as they are, and says so', async (t) => {
  const { sql, createVersion } = await prepare(t)
  const version = createVersion('one')
  version.write('fruit/colour.sql', 1, colour('red'))
  version.write('fruit/ripe.sql', 1, '')
  await version.migrate()
  version.write('fruit/colour.sql', 2, colour('green'))
  version.write(
    'fruit/ripe.sql',
    2,
    'create function ripe() returns text language sql as $$ oops $$',
  )
  await assert.rejects(version.migrate(), (error) => {
    assert.ok(error instanceof DatabaseProblem)
    assert.match(error.message, /fruit\/ripe\.sql, revision 2, cannot be applied \(syntax error/)
    return true
  })
  assert.equal(await readColour(sql), 'red')
  const rows = await sql<{ revision: number }[]>`select revision from function_file`
  assert.deepEqual(
    rows.map(({ revision }) => revision),
    [1, 1],
  )
})

test('an older version leaves newer functions, and takes no part in newer migrations', async (t) => {
  const { sql, createVersion } = await prepare(t)
  const [older, newer] = [createVersion('older'), createVersion('newer')]
  older.write('fruit/colour.sql', 1, colour('red'))
  newer.write('fruit/colour.sql', 2, colour('green'))
  await older.migrate()
  await newer.migrate()
  assert.deepEqual((await older.migrate()).functions, [])
  assert.equal(await readColour(sql), 'green')
  // A correction of the older version alone, of the same revision.
  older.write('fruit/colour.sql', 2, colour('brown'))
  writeFileSync(join(newer.migrations, '0034-later.sql'), 'create table later ();')
  await newer.migrate()
  const started = await older.migrate()
  assert.deepEqual([started.functions, started.newer], [[], ['0034-later.sql']])
  assert.equal(await readColour(sql), 'green')
})
