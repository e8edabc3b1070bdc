/** `tributary archive`: killed at each step, beside backups, and what other commands say of it. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readMonth } from '../../server/work/archive/periods.ts'
import { openCommandLine, runProgram, runWith } from '../cli/support.ts'
import { brokenInvariants, createCaller } from '../ledger/support.ts'
import { startS3Server } from '../support/s3-server.ts'
import { countRows, MONTH, postCalls, sumBooks } from './support.ts'

async function open(t: TestContext, calls: number) {
  const line = await openCommandLine(t)
  const callers = [await createCaller(line.sql, 10_000n), await createCaller(line.sql, 2_000n)]
  const holds = await postCalls(line.sql, callers, { calls })
  return { ...line, holds }
}

/** The first two bytes of zstd. */
const ZSTD = 0x28b5
const CREATE = ['archive', 'create', '--month', MONTH.name]

test('a month goes on after a kill at each step', async (t) => {
  const { sql, environment, run, json } = await open(t, 12)
  const sums = await sumBooks(sql)
  for (const point of ['written', 'verified', 'removing', 'removed', 'listed']) {
    const failing = { ...environment, TRIBUTARY_FAIL: `archive-${point}` }
    const killed = await runProgram(failing, CREATE)
    assert.equal(killed.code, null, `${point}: ${killed.err}`)
    assert.deepEqual(await sumBooks(sql), sums)
    assert.deepEqual(await brokenInvariants(sql), [])
  }
  assert.equal((await run(...CREATE)).code, 0)
  assert.deepEqual(await countRows(sql), { calls: 0, holds: 0, entries: 0 })
  const [archive] = await json('archive', 'list')
  assert.deepEqual([archive.month, archive.holds, archive.objects], [MONTH.name, 12, 1])
  assert.deepEqual((await json('audit', '--archives')).ok, true)
})

test('a month is listed, read back, and named by other commands', async (t) => {
  const { run, json, holds, sql } = await open(t, 9)
  const [hold] = holds
  assert.ok(hold)
  const older = ['archive', 'create', '--older-than', '12m']
  assert.deepEqual(await json(...older, '--dry-run'), [{ month: MONTH.name, calls: 9 }])
  assert.equal((await countRows(sql))?.calls, 9)
  assert.match((await run(...older)).out, /2025-01: 9 calls archived, in 1 object\./)
  assert.match((await run(...older)).out, /nothing to archive/)

  const shown = await run('archive', 'show', hold.request_id)
  assert.equal(JSON.parse(shown.out).call.request_id, hold.request_id)
  const lines = (await run('archive', 'read', '--month', MONTH.name)).out.trimEnd().split('\n')
  assert.deepEqual(
    lines.map((text) => JSON.parse(text).hold.id),
    holds.map(({ id }) => id),
  )
  assert.match((await run('usage', 'show', hold.request_id)).err, /archive show req_/)
  assert.match((await run('archive', 'show', 'req_unknown')).err, /is not archived/)
  assert.match((await run('archive', 'verify', '--month', '2025-03')).err, /is not archived/)
  assert.equal((await run('archive', 'create')).code, 1)
  assert.equal((await run('archive', 'create', '--month', 'May')).code, 2)
})

test('a month that cannot be archived does not block later ones', async (t) => {
  const { run, json, sql, holds } = await open(t, 4)
  const next = readMonth('2025-02')
  await postCalls(sql, [await createCaller(sql, 10_000n)], { calls: 3, month: next })
  await sql`update hold set closed_at = now() where id = ${holds[0]?.id ?? ''}`
  const older = ['archive', 'create', '--older-than', '3m']
  const dry = await run(...older, '--dry-run', '--json')
  assert.equal(dry.code, 1)
  assert.deepEqual(
    JSON.parse(dry.out).map((row: { month: string; refused?: string }) => [
      row.month,
      row.refused?.includes('were closed in the last 7 days'),
    ]),
    [
      ['2025-01', true],
      ['2025-02', undefined],
    ],
  )
  const archived = await run(...older)
  assert.equal(archived.code, 1)
  assert.match(archived.err, /^tributary: holds of 2025-01 are open, or were closed/m)
  assert.match(archived.out, /^2025-02: 3 calls archived, in 1 object\.$/m)
  assert.deepEqual(
    (await json('archive', 'list')).map(({ month }: { month: string }) => month),
    ['2025-02'],
  )
  assert.deepEqual(await brokenInvariants(sql), [])
})

test('an object store has the archive, and a change there is noticed', async (t) => {
  const { environment } = await open(t, 9)
  const store = await startS3Server()
  t.after(() => store.stop())
  const inStore = { ...environment, ...store.environment }
  assert.equal((await runWith(inStore, CREATE)).code, 0)
  assert.equal(store.objects.size, 2)
  assert.equal((await runWith(inStore, ['archive', 'verify'])).code, 0)
  for (const [key, bytes] of store.objects) {
    if (bytes.readUInt16BE(0) === ZSTD) store.objects.set(key, Buffer.concat([bytes, bytes]))
  }
  const changed = await runWith(inStore, ['archive', 'verify'])
  assert.deepEqual([changed.code, /its SHA-256 differs/.test(changed.out)], [1, true])
  const without = await runWith(environment, ['archive', 'verify'])
  assert.match(without.out, /an object store that is not configured/)
})

test('a changed object fails verification, and so does a missing one', async (t) => {
  const { run, folder } = await open(t, 9)
  assert.equal((await run(...CREATE)).code, 0)
  assert.equal((await run('archive', 'verify')).code, 0)
  const [path] = readdirSync(join(folder, 'files'), { recursive: true })
    .map((name) => join(folder, 'files', String(name)))
    .filter((name) => statSync(name).isFile() && readFileSync(name).readUInt16BE(0) === ZSTD)
  assert.ok(path)
  const bytes = readFileSync(path)
  bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40)
  writeFileSync(path, bytes)
  const changed = await run('archive', 'verify')
  assert.deepEqual([changed.code, /its SHA-256 differs/.test(changed.out)], [1, true])
  assert.equal((await run('audit')).code, 0)
  assert.equal((await run('audit', '--archives')).code, 1)
  rmSync(path)
  assert.match((await run('audit', '--archives')).out, /cannot be read/)
})

test('a backup has the archives, with their files and checkpoints', async (t) => {
  const { run, json, sql, folder, environment, file } = await open(t, 9)
  const sums = await sumBooks(sql)
  const checkpoint = join(folder, 'checkpoint.json')
  assert.equal((await run('checkpoint', '--out', checkpoint)).code, 0)
  assert.equal((await run(...CREATE)).code, 0)
  assert.equal((await run('checkpoint', 'verify', checkpoint)).code, 0)

  const copy = join(folder, 'copy')
  assert.match((await run('backup', '--to', copy, '--files')).out, /2 files and media/)
  rmSync(join(folder, 'files'), { recursive: true })
  assert.equal((await run('checkpoint', 'verify', checkpoint)).code, 1)
  assert.equal((await run('checkpoint', 'verify', checkpoint, '--backup', copy)).code, 0)

  const verified = await json('restore', '--from', copy, '--verify')
  const archived = verified.compared.sums.filter(
    ({ table }: { table: string }) => table === 'archived_sum',
  )
  assert.deepEqual([archived.length, archived[0].same], [1, true])
  assert.equal((await run('restore', '--from', copy, '--force')).code, 0)
  assert.deepEqual(await sumBooks(sql), sums)
  assert.equal((await json('audit', '--archives')).ok, true)

  await sql`insert into channel (id, upstream) values ('main', 'openai-compatible')`
  const invoice = file('usage.csv', 'Day,Model,Cost,Currency\n2025-01-31,m,1,CNY\n')
  const reconcile = ['reconcile', '--channel', 'main', '--invoice', invoice, '--time-zone', 'UTC']
  const columns = ['--map', 'date=Day,model=Model,amount=Cost,currency=Currency']
  const refused = await runWith(environment, [...reconcile, ...columns])
  assert.match(refused.err, /the calls of 2025-01 are archived.*--month 2025-01/)
  const later = file('later.csv', 'Day,Model,Cost,Currency\n2025-02-01,m,1,CNY\n')
  const next = await runWith(environment, [
    ...reconcile.map((word) => (word === invoice ? later : word)),
    ...columns,
  ])
  assert.doesNotMatch(next.err, /archived/)
})
