/** Files that are forgotten while they are open. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openJournal } from '../../../server/money/ledger/posting/journal.ts'
import { createDiskStorage } from '../../../server/work/assets/storage/disk-storage.ts'
import { testMemory } from '../../support/memory.ts'
import { until } from '../../support/until.ts'

/** Node ends a process whose garbage has an open file. */
async function assertHarmless(t: TestContext, forget: () => Promise<unknown>): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const ended: unknown[] = []
  const onError = (error: unknown) => ended.push(error)
  process.prependListener('uncaughtException', onError)
  t.after(() => process.off('uncaughtException', onError))
  await forget()
  let collections = 0
  await until('some collections', () => {
    collect()
    collections += 1
    return collections > 3
  })
  assert.deepEqual(ended, [])
}

test('a file of a request does not end the process', async (t) => {
  const memory = testMemory()
  await assertHarmless(t, async () => {
    await (await memory.openFile('acct_1')).append(Buffer.from('x'))
  })
})

test('a journal that a full disk does not take does not end the process', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'forgotten-'))
  t.after(() => rmSync(folder, { recursive: true }))
  symlinkSync('/dev/full', join(folder, 'own_1.jsonl'))
  let reports = 0
  const error = () => {
    reports += 1
  }
  await assertHarmless(t, async () => {
    openJournal({ folder, ownerId: 'own_1', log: { warn: error, error } })
    await until('a report', () => reports > 0)
  })
})

test('stored content that nobody reads does not end the process', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'forgotten-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const storage = createDiskStorage(folder)
  const key = storage.newKey()
  await storage.write(key, Readable.from([Buffer.alloc(100_000, 'x')]), 100_000)
  await assertHarmless(t, () => storage.read(key).then(() => undefined))
  const part = await (await storage.read(key, { start: 1, end: 3 })).toArray()
  assert.equal(Buffer.concat(part).toString(), 'xxx')
})
