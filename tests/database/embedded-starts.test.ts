/** Starts that could go wrong: everything an operator may meet, each with a clear line or none. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startEmbedded } from '../../server/base/database/embedded/embedded.ts'
import { makeClone } from '../support/clone.ts'
import {
  serverPid,
  shareDataDir,
  stopLeftServer,
  useDataDir,
} from '../support/database/data-dir.ts'
import { makeDataDir, serverProcesses } from '../support/database/own-postgres.ts'
import { runDatabaseProcess } from '../support/database/run-database-process.ts'
import { mountSmallDisk, noSmallDisk, remountReadOnly } from '../support/database/small-disk.ts'
import { until } from '../support/until.ts'

const isRoot = process.getuid?.() === 0
const NOBODY = 65534
/** A user every system has; PostgreSQL wants one with a name. */
const DAEMON = 1
const onlyRoot = isRoot ? false : 'only root runs PostgreSQL as somebody else'

/** For tests of later starts. */
const useStarted = shareDataDir()

const commandOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8')

test('two gateways that start for the first time together: one wins', async (t) => {
  const dataDir = useDataDir(t)
  const both = await Promise.all([
    runDatabaseProcess(dataDir, 'owner'),
    runDatabaseProcess(dataDir, 'owner'),
  ])
  const winner = both.find((one) => one.ready)
  const loser = both.find((one) => !one.ready)
  assert.match(loser?.refused ?? '', /another gateway is already running/)
  assert.equal(await winner?.close(), 0)
})

test('a gateway and five commands that start together share one server', async (t) => {
  const dataDir = useDataDir(t)
  const roles = ['owner', 'command', 'command', 'command', 'command', 'command'] as const
  const all = await Promise.all(roles.map((role) => runDatabaseProcess(dataDir, role)))
  const answers = new Set(all.map((one) => one.ready ?? one.refused))
  assert.equal(answers.size, 1, [...answers].join('; '))
  for (const one of all.slice(1)) assert.equal(await one.close(), 0)
  assert.ok(serverPid(dataDir))
  assert.equal(await all[0]?.close(), 0)
})

test('a dead server’s pid, reused by another process, does not prevent a start', {
  skip: process.platform !== 'linux' && 'only Linux tells whose a pid is',
}, async (t) => {
  const dataDir = useStarted(t)
  const first = await runDatabaseProcess(dataDir, 'owner')
  const lockFile = join(dataDir, 'postgres', 'postmaster.pid')
  const lock = readFileSync(lockFile, 'utf8')
  assert.equal(await first.close(), 0)
  const stranger = spawn('sleep', ['60'], isRoot ? { uid: NOBODY, gid: NOBODY } : {})
  t.after(() => stranger.kill())
  writeFileSync(lockFile, lock.replace(/^\d+/, String(stranger.pid)), { mode: 0o600 })
  if (isRoot) chownSync(lockFile, NOBODY, NOBODY)
  const second = await runDatabaseProcess(dataDir, 'owner')
  assert.ok(second.ready, `${second.refused}`)
  assert.equal(await second.close(), 0)
})

test('a command with another TMPDIR finds the running server', async (t) => {
  const dataDir = useStarted(t)
  const gateway = await runDatabaseProcess(dataDir, 'owner')
  const elsewhere = useDataDir(t)
  const command = await runDatabaseProcess(dataDir, 'command', { env: { TMPDIR: elsewhere } })
  assert.equal(command.ready, gateway.ready)
  assert.equal(await command.close(), 0)
  assert.equal(await gateway.close(), 0)
})

test('a TMPDIR too deep for a socket does not matter', async (t) => {
  const dataDir = useStarted(t)
  const deep = join(useDataDir(t), 'x'.repeat(60))
  mkdirSync(deep)
  const gateway = await runDatabaseProcess(dataDir, 'owner', { env: { TMPDIR: deep } })
  assert.ok(gateway.ready, `${gateway.refused}`)
  assert.equal(await gateway.close(), 0)
})

test('a start waits for the server of the run before, which is still stopping', async (t) => {
  const dataDir = useStarted(t)
  const first = await startEmbedded({ dataDir })
  const pid = first.pid() ?? 0
  const checkpointer = serverProcesses(pid).find((one) => commandOf(one).includes('checkpointer'))
  assert.ok(checkpointer)
  process.kill(checkpointer, 'SIGSTOP')
  process.kill(pid, 'SIGINT')
  const lockFile = join(dataDir, 'postgres', 'postmaster.pid')
  await until('the stop', () => readFileSync(lockFile, 'utf8').includes('stopping'))
  await assert.rejects(
    startEmbedded({ dataDir, stoppingMs: 1 }),
    new RegExp(`previous run is still stopping .*: start again once process ${pid} has ended, or`),
  )
  const said: string[] = []
  const onProgress = (message: string) => {
    said.push(message)
    process.kill(checkpointer, 'SIGCONT')
  }
  const second = await startEmbedded({ dataDir, onProgress })
  assert.deepEqual([...new Set(said)], ['waiting for the PostgreSQL of the previous run to stop'])
  assert.equal(second.adopted, false)
  assert.notEqual(second.pid(), pid)
  await second.stop()
})

test('data of another major version is recognised', async (t) => {
  const dataDir = useDataDir(t)
  const first = await runDatabaseProcess(dataDir, 'owner')
  assert.equal(await first.close(), 0)
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '17\n')
  const second = await runDatabaseProcess(dataDir, 'owner')
  assert.match(second.refused ?? '', /created by another major version of PostgreSQL: .*backup/)
})

test('a password file that was lost is named', async (t) => {
  const dataDir = useDataDir(t)
  const first = await runDatabaseProcess(dataDir, 'owner')
  assert.equal(await first.close(), 0)
  rmSync(join(dataDir, 'postgres.password'))
  const second = await runDatabaseProcess(dataDir, 'owner')
  assert.match(second.refused ?? '', /refuses the password in postgres\.password/)
  await stopLeftServer(dataDir)
})

test('a data folder that is a file is reported', async (t) => {
  const file = join(useDataDir(t), 'file')
  writeFileSync(file, '')
  const refused = await runDatabaseProcess(file, 'owner')
  assert.match(refused.refused ?? '', /is not a folder: set DATA_DIR/)
})

test('a data folder that is read-only is reported', { skip: noSmallDisk }, async (t) => {
  const folder = mountSmallDisk(t, 10)
  remountReadOnly(folder)
  const refused = await runDatabaseProcess(folder, 'owner')
  assert.match(refused.refused ?? '', /is not writable \(EROFS\): .*DATA_DIR/)
})

test('a disk too small for the first start is reported', { skip: noSmallDisk }, async (t) => {
  const folder = mountSmallDisk(t, 20)
  for (let time = 0; time < 2; time += 1) {
    const refused = await runDatabaseProcess(folder, 'owner')
    assert.match(refused.refused ?? '', /the disk of .* is full: free some space and retry/)
  }
})

test('root starts from a clone that other users cannot enter', { skip: onlyRoot }, async (t) => {
  const { folder, script } = makeClone(t)
  const dataDir = join(folder, 'data')
  t.after(() => stopLeftServer(dataDir))
  const gateway = await runDatabaseProcess(dataDir, 'owner', { script })
  assert.ok(gateway.ready, `${gateway.refused}`)
  await gateway.kill()
  const next = await runDatabaseProcess(dataDir, 'owner', { script })
  assert.equal(next.ready, gateway.ready)
  assert.equal(await next.close(), 0)
})

/** Another user's process needs this checkout's own Node. */
const needsOpenCheckout =
  onlyRoot ||
  (spawnSync(process.execPath, ['--version'], { uid: DAEMON }).error !== undefined &&
    'this checkout lies where no other user may enter')

test('a normal user starts, and root joins', { skip: needsOpenCheckout }, async (t) => {
  const { folder, script } = makeClone(t)
  chmodSync(folder, 0o755)
  const dataDir = useDataDir(t, makeDataDir())
  chownSync(dataDir, DAEMON, DAEMON)
  const user = { script, uid: DAEMON }
  const gateway = await runDatabaseProcess(dataDir, 'owner', user)
  assert.ok(gateway.ready, `${gateway.refused}`)
  const root = await runDatabaseProcess(dataDir, 'command', { script })
  assert.equal(root.ready, gateway.ready)
  assert.equal(await root.close(), 0)
  assert.equal(await gateway.close(), 0)
  const again = await runDatabaseProcess(dataDir, 'command', { script })
  assert.ok(again.ready, `${again.refused}`)
  assert.equal(await again.close(), 0)
})
