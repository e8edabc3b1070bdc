/** The same SQL on an operator's own, older PostgreSQL, through DATABASE_URL. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { backup } from '../../server/database/backup/backup.ts'
import { restore } from '../../server/database/backup/restore.ts'
import { migrate } from '../../server/database/migrations/migrate.ts'
import { openDatabase } from '../../server/database/open.ts'
import { audit } from '../../server/ledger/audit/audit.ts'
import {
  noOlderPostgres,
  type OlderPostgres,
  startOlderPostgres,
} from '../support/database/older-postgres.ts'
import {
  digestTables,
  fillAccounts,
  MIGRATIONS,
  makeEmpty,
  makeFolder,
  startWorkload,
} from './backup-support.ts'

const nowhere = { dataDir: '/nowhere', owner: true }

describe('an older PostgreSQL', { skip: noOlderPostgres }, () => {
  let server: OlderPostgres
  before(async () => {
    server = await startOlderPostgres()
  })
  after(() => server.stop())

  test('serves the ledger, and its backup moves to the embedded one and back', async (t) => {
    const databaseUrl = await server.createDatabase('tributary')
    const { sql, place, kind, probe, stop } = await openDatabase({ ...nowhere, databaseUrl })
    t.after(stop)
    assert.equal(kind, 'external')
    assert.ok((await probe()).skewMs < 5_000)
    await migrate(sql, MIGRATIONS)
    await fillAccounts(sql)
    const workload = startWorkload(sql)
    const folder = makeFolder(t)
    await backup({ place, kind, target: join(folder, 'busy') })
    await workload.stop()
    assert.ok((await audit(sql)).ok)

    await backup({ place, kind, target: join(folder, 'quiet') })
    const embedded = await makeEmpty(t)
    const there = { place: embedded.place, from: join(folder, 'quiet'), migrations: MIGRATIONS }
    await restore(there)
    assert.deepEqual(await digestTables(embedded.sql), await digestTables(sql))

    const back = join(folder, 'back')
    await backup({ place: embedded.place, kind: 'embedded', target: back })
    await restore({ place, from: back, migrations: MIGRATIONS, force: true })
    assert.deepEqual(await digestTables(sql), await digestTables(embedded.sql))
    assert.ok((await audit(sql)).ok)
  })
})

describe('settings that lose money', { skip: noOlderPostgres }, () => {
  for (const setting of ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off']) {
    test(`${setting} is refused`, async (t) => {
      allowNothingUnsafe(t)
      const server = await startOlderPostgres([setting])
      t.after(() => server.stop())
      await assert.rejects(openDatabase({ ...nowhere, databaseUrl: server.url }), {
        name: 'DatabaseProblem',
        message: /can lose committed transactions/,
      })
    })
  }
})

/** The runner's own server is unsafe on purpose, and says so to every test of the run. */
function allowNothingUnsafe(t: TestContext): void {
  const name = 'TRIBUTARY_TEST_UNSAFE_DATABASE'
  const given = process.env[name]
  delete process.env[name]
  t.after(() => {
    if (given !== undefined) process.env[name] = given
  })
}
