/** Who may use an embedded database, and what becomes of it when its gateway is killed. */
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type OpenedDatabase, openDatabase } from '../../server/base/database/open.ts'
import { serverPid, shareDataDir } from '../support/database/data-dir.ts'
import { serverProcesses, signalServer } from '../support/database/own-postgres.ts'
import { runDatabaseProcess } from '../support/database/run-database-process.ts'
import { until } from '../support/until.ts'

const useDataDir = shareDataDir()

test('a gateway starts the server and stops it; the next start finds the same data', async (t) => {
  const dataDir = useDataDir(t)
  const first = await runDatabaseProcess(dataDir, 'owner')
  assert.ok(first.ready, `${first.refused}`)
  assert.equal(statSync(join(dataDir, 'postgres.password')).mode & 0o777, 0o600)
  assert.equal(statSync(join(dataDir, 'postgres')).mode & 0o777, 0o700)
  assert.equal(await first.close(), 0)
  assert.equal(serverPid(dataDir), undefined)
  const second = await runDatabaseProcess(dataDir, 'owner')
  assert.ok(second.ready, `${second.refused}`)
  assert.notEqual(second.ready, first.ready)
  assert.equal(await second.close(), 0)
})

test('a second gateway is refused with the reason, and the first goes on', async (t) => {
  const dataDir = useDataDir(t)
  const first = await runDatabaseProcess(dataDir, 'owner')
  const second = await runDatabaseProcess(dataDir, 'owner')
  assert.match(
    second.refused ?? '',
    /another gateway is already running on .*DATA_DIR.*DATABASE_URL/,
  )
  assert.ok(serverPid(dataDir))
  assert.equal(await first.close(), 0)
})

test('a gateway that starts while another stops gets a server of its own', async (t) => {
  const dataDir = useDataDir(t)
  const first = await openDatabase({ dataDir, owner: true })
  const startedOf = async ({ sql }: Pick<OpenedDatabase, 'sql'>) => {
    const [row] = await sql<{ at: string }[]>`select pg_postmaster_start_time()::text as at`
    return row?.at
  }
  const started = await startedOf(first)
  const opening = openDatabase({ dataDir, owner: true })
  await until('the second at the lock', async () => {
    const [row] = await first.sql`
      select from pg_stat_activity where application_name = 'tributary owner' offset 1`
    return row !== undefined
  })
  await first.stop()
  const second = await opening
  assert.notEqual(await startedOf(second), started)
  await second.stop()
  assert.equal(serverPid(dataDir), undefined)
})

test('after kill -9 of the gateway the next one adopts the server that was left', async (t) => {
  const dataDir = useDataDir(t)
  const first = await runDatabaseProcess(dataDir, 'owner')
  await first.kill()
  const pid = serverPid(dataDir)
  const second = await runDatabaseProcess(dataDir, 'owner')
  assert.equal(second.ready, first.ready)
  assert.equal(serverPid(dataDir), pid)
  assert.equal(await second.close(), 0)
  assert.equal(serverPid(dataDir), undefined)
})

test('a command joins the gateway and leaves the server to it', async (t) => {
  const dataDir = useDataDir(t)
  const gateway = await runDatabaseProcess(dataDir, 'owner')
  const command = await runDatabaseProcess(dataDir, 'command')
  assert.equal(command.ready, gateway.ready)
  assert.equal(await command.close(), 0)
  assert.ok(serverPid(dataDir))
  assert.equal(await gateway.close(), 0)
})

test('a command without a gateway starts the server and stops it after itself', async (t) => {
  const dataDir = useDataDir(t)
  const command = await runDatabaseProcess(dataDir, 'command')
  assert.ok(command.ready, `${command.refused}`)
  assert.equal(await command.close(), 0)
  assert.equal(serverPid(dataDir), undefined)
})

test('a gateway that starts during a command keeps the server the command started', async (t) => {
  const dataDir = useDataDir(t)
  const command = await runDatabaseProcess(dataDir, 'command')
  const gateway = await runDatabaseProcess(dataDir, 'owner')
  assert.equal(gateway.ready, command.ready)
  assert.equal(await command.close(), 0)
  assert.ok(serverPid(dataDir))
  assert.equal(await gateway.close(), 0)
})

for (const whole of [false, true]) {
  const victim = whole ? 'server and all its backends' : 'server, its backends left over'
  test(`kill -9 of the ${victim}: it runs again, and is still owned`, async (t) => {
    const dataDir = useDataDir(t)
    const gateway = await runDatabaseProcess(dataDir, 'owner')
    const pid = serverPid(dataDir) ?? 0
    assert.ok(serverProcesses(pid).length > 3)
    if (whole) signalServer(pid, 'SIGKILL')
    else process.kill(pid, 'SIGKILL')
    await until('the restart', () => gateway.said.some((one) => one.trouble))
    const second = await runDatabaseProcess(dataDir, 'owner')
    assert.match(second.refused ?? '', /another gateway is already running/)
    assert.equal(await gateway.close(), 0)
    assert.equal(serverPid(dataDir), undefined)
  })
}
