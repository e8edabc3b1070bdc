/** DATA_DIR and the log of PostgreSQL are for their owner alone, whoever made them before. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { closeToOthers } from '../../server/base/lib/secrets/private-files.ts'
import { useDataDir } from '../support/database/data-dir.ts'
import { runDatabaseProcess } from '../support/database/run-database-process.ts'

const isRoot = process.getuid?.() === 0
const modeOf = (path: string) => statSync(path).mode & 0o777

test('new files are private, and readable ones become private at the next start', async (t) => {
  const dataDir = join(useDataDir(t), 'made')
  useDataDir(t, dataDir)
  const log = join(dataDir, 'postgres.log')
  const first = await runDatabaseProcess(dataDir, 'owner')
  assert.ok(first.ready, `${first.refused}`)
  assert.equal(await first.close(), 0)
  assert.deepEqual([modeOf(dataDir), modeOf(log)], [0o700, 0o600])
  chmodSync(dataDir, 0o755)
  chmodSync(log, 0o644)
  const second = await runDatabaseProcess(dataDir, 'owner')
  assert.ok(second.ready, `${second.refused}`)
  assert.deepEqual([modeOf(dataDir), modeOf(log)], [0o700, 0o600])
  assert.equal(await second.close(), 0)
})

test('root without the capability makes the folder traversable, but not listable', {
  skip: !isRoot && 'only root runs PostgreSQL as somebody else',
}, async (t) => {
  const dataDir = useDataDir(t)
  chmodSync(dataDir, 0o755)
  const started = await runDatabaseProcess(dataDir, 'owner', { env: { PATH: '/nowhere' } })
  assert.ok(started.ready ?? /cannot reach/.test(started.refused ?? ''), `${started.refused}`)
  assert.equal(modeOf(dataDir), 0o711)
  if (started.ready) assert.equal(await started.close(), 0)
})

test('folders of the system, and those with a sticky bit, stay as they are', (t) => {
  const shared = join(useDataDir(t), 'shared')
  mkdirSync(shared)
  chmodSync(shared, 0o1777)
  const file = join(shared, 'open')
  writeFileSync(file, '')
  chmodSync(file, 0o664)
  for (const path of [shared, '/', '/var/lib', homedir()]) {
    const before = statSync(path).mode
    closeToOthers(path)
    assert.equal(statSync(path).mode, before, path)
  }
  closeToOthers(file)
  assert.equal(modeOf(file), 0o600)
})

test('a folder that the file system calls missing is refused, and not tried for ever', {
  skip: !existsSync('/proc/self') && 'no file system here does so',
}, () => {
  const module = JSON.stringify(
    new URL('../../server/base/lib/secrets/private-files.ts', import.meta.url),
  )
  const program = `import(${module}).then((files) => files.makePrivateFolder('/proc/no/folder'))`
  const ended = spawnSync(process.execPath, ['--eval', program], {
    encoding: 'utf8',
    timeout: 60_000,
    killSignal: 'SIGKILL',
  })
  assert.equal(ended.signal, null)
  assert.match(ended.stderr, /ENOENT/)
})
