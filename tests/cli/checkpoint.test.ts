/** `checkpoint` as an operator and an auditor without a database run it. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { programEnvironment } from '../support/processes.ts'
import { openCommandLine, runWith } from './support.ts'

/** A checkpoint and a backup of one entry, then a checkpoint and a backup of two. */
async function prepare(t: TestContext) {
  const line = await openCommandLine(t)
  const { run, json, folder, file } = line
  const path = (name: string) => join(folder, name)
  const nothing = await run('checkpoint')
  assert.match(nothing.err, /no entries yet/)
  assert.equal(nothing.code, 1)
  const { id } = await json('account', 'create', '--name', 'Ann', '--balance', '5')
  const credit = ['credit', '--account', id, '--amount', '2', '--reason', 'test']
  assert.equal((await run('checkpoint', '--out', path('first.json'))).code, 0)
  assert.equal((await run('backup', '--to', path('early'))).code, 0)
  assert.equal((await run(...credit)).code, 0)
  const made = await run('checkpoint', '--out', path('second.json'))
  assert.match(made.out, /second\.json: block 2, 2 entries, signed with key [0-9a-f]{16}\./)
  assert.equal((await run('backup', '--to', path('late'))).code, 0)
  const key = file('key.pem', (await run('checkpoint', 'public-key')).out)
  return { ...line, path, credit, key }
}

test('a checkpoint is verified against backups, without a database', async (t) => {
  const { folder, path, key } = await prepare(t)
  const away = { ...programEnvironment(), HOME: folder, DATA_DIR: path('nowhere') }
  const offline = async (name: string, copy: string) => {
    const words = ['checkpoint', 'verify', path(name), '--public-key', key, '--backup', path(copy)]
    const { code, out } = await runWith(away, [...words, '--json'])
    const { verdict, problems } = JSON.parse(out)
    return { code, verdict, problems: problems.join('\n') }
  }
  const good = { code: 0, verdict: 'ok', problems: '' }
  assert.deepEqual(await offline('first.json', 'early'), good)
  assert.deepEqual(await offline('first.json', 'late'), good)
  assert.deepEqual(await offline('second.json', 'late'), good)
  const older = await offline('second.json', 'early')
  assert.deepEqual([older.code, older.verdict], [1, 'older'])
  assert.match(older.problems, /the statement is newer than these books: they end with block 1/)

  const entries = join(path('late'), 'entry.copy')
  const [first = '', second = ''] = readFileSync(entries, 'utf8').split('\n')
  writeFileSync(entries, `${first.replace('5000000000', '6000000000')}\n${second}\n`)
  const changed = await offline('second.json', 'late')
  assert.deepEqual([changed.code, changed.verdict], [1, 'differs'])
  assert.match(changed.problems, /^entry 1 \(.* credit, account acct_.*was changed after it/)
  writeFileSync(entries, `${second}\n`)
  assert.match((await offline('second.json', 'late')).problems, /^entry 1 was removed after/)
  writeFileSync(entries, `${second}\n${first}\n`)
  assert.deepEqual(await offline('second.json', 'late'), good)
  writeFileSync(entries, `${second}\nrubbish\n`)
  const words = ['checkpoint', 'verify', path('second.json'), '--backup', path('late')]
  const damaged = await runWith(away, words)
  assert.match(damaged.err, /^tributary: .*the backup is damaged/)
  assert.equal(damaged.code, 1)
})

test('a checkpoint is verified against the database, before and after it went back', async (t) => {
  const { run, path, key, credit, file } = await prepare(t)
  const verify = (...words: string[]) => run('checkpoint', 'verify', ...words)
  const online = await verify(path('second.json'), '--public-key', key)
  assert.match(
    online.out,
    /^OK: .*\n.*covers 2 entries in 2 blocks\.\n.*\n.*top_up -7\nSigned with/,
  )
  assert.equal(online.code, 0)
  assert.match((await run('checkpoint', '--out', path('second.json'))).err, /exists already/)

  const text = readFileSync(path('second.json'), 'utf8')
  const forged = file('forged.json', text.replace('"entries": "2"', '"entries": "3"'))
  assert.match((await verify(forged)).out, /^FORGED/)
  assert.match((await verify(file('none.json', '{}'))).err, /the file is not a checkpoint/)
  assert.match((await verify(path('second.json'), '--public-key', forged)).err, /is not in PEM/)

  const restored = await run('restore', '--from', path('early'), '--force')
  assert.equal(restored.code, 0, restored.err + restored.out)
  assert.match((await verify(path('second.json'))).out, /^OLDER/)
  assert.equal((await run(...credit)).code, 0)
  assert.equal((await run('checkpoint', '--out', path('third.json'))).code, 0)
  const beyond = await verify(path('second.json'))
  assert.match(beyond.out, /^DIFFERS.*\n.*restored to an earlier state/)
})
