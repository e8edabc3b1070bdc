/** The same SQL on an operator's own, older PostgreSQL, through DATABASE_URL. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { backup } from '../../server/base/database/backup/backup.ts'
import { restore } from '../../server/base/database/backup/restore.ts'
import { connect } from '../../server/base/database/connection/client.ts'
import { migrate } from '../../server/base/database/migrations/migrate.ts'
import { openDatabase } from '../../server/base/database/open.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { startOwnServer } from '../support/database/own-postgres.ts'
import { noPackagedPostgres } from '../support/database/packaged-postgres.ts'
import { until } from '../support/until.ts'
import {
  digestTables,
  fillAccounts,
  MIGRATIONS,
  makeEmpty,
  makeFolder,
  startWorkload,
} from './backup/support.ts'

const nowhere = { dataDir: '/nowhere', owner: true }

type OwnServer = Awaited<ReturnType<typeof startOwnServer>>

/** Returns the URL of a database whose owner may do nothing else, as a managed PostgreSQL's. */
async function createOwned(server: OwnServer, name: string): Promise<string> {
  const admin = connect(server.place, { connections: 1, patient: true })
  await admin.unsafe(`create role ${name} login password '${name}'`)
  await admin.unsafe(`create database ${name} owner ${name}`)
  await admin.end()
  return server.url.replace(/\/\/[^@]*@/, `//${name}:${name}@`).replace(/[^/]*$/, name)
}

describe('an older PostgreSQL', { skip: noPackagedPostgres }, () => {
  let server: OwnServer
  before(async () => {
    server = await startOwnServer(undefined, { choice: 'debian' })
  })
  after(() => server.remove())

  test('serves the ledger, and its backup moves to the embedded one and back', async (t) => {
    const databaseUrl = await createOwned(server, 'owner')
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

describe('settings of a server', { skip: noPackagedPostgres }, () => {
  let server: OwnServer
  before(async () => {
    server = await startOwnServer(undefined, { choice: 'debian' })
  })
  after(() => server.remove())

  const open = (warnings: string[] = []) => {
    const onWarning = (message: string) => void warnings.push(message)
    return openDatabase({ ...nowhere, databaseUrl: server.url, onWarning })
  }

  async function change(statement: string): Promise<void> {
    const admin = connect(server.place, { connections: 1, patient: true })
    await admin.unsafe(statement)
    await admin`select pg_reload_conf()`
    await admin.end()
  }

  for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    test(`${setting}=off: refused at the start, and a gateway that runs notices`, async (t) => {
      allowNothingUnsafe(t)
      const { probe, stop } = await open()
      t.after(stop)
      assert.equal((await probe()).refusal, undefined)
      await change(`alter system set ${setting} = off`)
      t.after(() => change(`alter system reset ${setting}`))
      const message = new RegExp(`can lose committed transactions \\(${setting} off\\)`)
      await until('the change', async () => message.test((await probe()).refusal ?? ''))
      await assert.rejects(open(), { name: 'DatabaseProblem', message })
    })
  }

  test('triggers that do not run are refused, few connections are a warning', async (t) => {
    allowNothingUnsafe(t)
    const database = new URL(server.url).pathname.slice(1)
    await change(`alter database "${database}" set session_replication_role = replica`)
    await assert.rejects(open(), { message: /the triggers that protect the books do not run/ })
    await change(`alter database "${database}" reset session_replication_role`)
    await change(`alter database "${database}" connection limit 12`)
    const warnings: string[] = []
    await (await open(warnings)).stop()
    assert.equal(warnings.length, 1)
    assert.match(warnings[0] ?? '', /limit of the database leaves 12 connections/)
  })
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
