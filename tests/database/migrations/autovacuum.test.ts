/** Migrations of a table that autovacuum works on: PostgreSQL has it make way, but not at once. */
import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { connect } from '../../../server/base/database/connection/client.ts'
import { migrate } from '../../../server/base/database/migrations/migrate.ts'
import { startOwnServer } from '../../support/database/own-postgres.ts'
import { until } from '../../support/until.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const LIST = '0033-functions-in-files.sql'
const TRIGGER = `-- revision 1
create or replace function ripen() returns trigger language plpgsql as 'begin return new; end';
create trigger ripen before insert on fruit for each row execute function ripen();`

for (const [step, path, text, applied] of [
  ['a migration', 'migrations/0034-colour.sql', 'alter table fruit add colour text;', '0034'],
  ['a file of functions', 'server/fruit/sql/ripen.sql', TRIGGER, 'fruit/ripen.sql'],
] as const) {
  test(`${step} ends the autovacuum of a table that it changes`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'tributary-migrations-'))
    const settings = { fsync: 'off', autovacuum: 'on', autovacuum_naptime: '1s' }
    const server = await startOwnServer(undefined, { settings })
    const sql = connect(server.place, { connections: 2, patient: true })
    t.after(async () => {
      await sql.end()
      await server.remove()
      rmSync(folder, { recursive: true })
    })
    const migrations = join(folder, 'migrations')
    mkdirSync(migrations)
    copyFileSync(join(ROOT, 'migrations', LIST), join(migrations, LIST))
    // Its vacuum sleeps at each of some hundred pages.
    const create = `
      create table fruit (name text) with (fillfactor = 10, autovacuum_vacuum_threshold = 1,
        autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_limit = 1,
        autovacuum_vacuum_cost_delay = 100);
      insert into fruit select repeat('fig', 100) from generate_series(1, 2000);`
    writeFileSync(join(migrations, '0001-fruit.sql'), create)
    await migrate(sql, migrations)
    // A session that ends tells at once what it deleted.
    const deleting = connect(server.place, { connections: 1, patient: true })
    await deleting`delete from fruit where ctid::text like '%,1)'`
    await deleting.end()
    const worker = await until('autovacuum', async () => {
      const [row] = await sql<{ pid: number }[]>`
        select pid from pg_stat_progress_vacuum where relid = 'fruit'::regclass`
      return row?.pid
    })
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
    const done = await migrate(sql, migrations, { lockedMsMax: 0 })
    assert.match([...done.applied, ...done.functions].join(), new RegExp(`^${applied}`))
    const rows = await sql`
      select from pg_stat_progress_vacuum where pid = ${worker} and relid = 'fruit'::regclass`
    assert.equal(rows.length, 0)
  })
}
