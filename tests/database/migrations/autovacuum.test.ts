/** Migrations of a table that autovacuum works on: PostgreSQL has it make way, but not at once. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from '../../../server/base/database/connection/client.ts'
import { migrate } from '../../../server/base/database/migrations/migrate.ts'
import { startOwnServer } from '../../support/database/own-postgres.ts'
import { until } from '../../support/until.ts'

test('a migration ends the autovacuum of a table that it changes', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-migrations-'))
  const settings = { fsync: 'off', autovacuum: 'on', autovacuum_naptime: '1s' }
  const server = await startOwnServer(undefined, { settings })
  const sql = connect(server.place, { connections: 2, patient: true })
  t.after(async () => {
    await sql.end()
    await server.remove()
    rmSync(folder, { recursive: true })
  })
  // Its vacuum sleeps at each of some hundred pages.
  const create = `
    create table fruit (name text) with (fillfactor = 10, autovacuum_vacuum_threshold = 1,
      autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_limit = 1,
      autovacuum_vacuum_cost_delay = 100);
    insert into fruit select repeat('fig', 100) from generate_series(1, 2000);`
  writeFileSync(join(folder, '0001-fruit.sql'), create)
  await migrate(sql, folder)
  // A session that ends tells at once what it deleted.
  const deleting = connect(server.place, { connections: 1, patient: true })
  await deleting`delete from fruit where ctid::text like '%,1)'`
  await deleting.end()
  const worker = await until('autovacuum', async () => {
    const [row] = await sql<{ pid: number }[]>`
      select pid from pg_stat_progress_vacuum where relid = 'fruit'::regclass`
    return row?.pid
  })
  writeFileSync(join(folder, '0002-colour.sql'), 'alter table fruit add colour text;')
  assert.deepEqual((await migrate(sql, folder, { lockedMsMax: 0 })).applied, ['0002-colour.sql'])
  const rows = await sql`
    select from pg_stat_progress_vacuum where pid = ${worker} and relid = 'fruit'::regclass`
  assert.equal(rows.length, 0)
})
