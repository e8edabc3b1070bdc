/** The journal of settlements on the local disk. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openJournal } from '../../server/money/ledger/posting/journal.ts'
import { parseRows } from '../../server/money/ledger/posting/parse-rows.ts'
import type { SettleRow } from '../../server/money/ledger/store.ts'
import { mountSmallDisk, noSmallDisk } from '../support/database/small-disk.ts'
import { until } from '../support/until.ts'

const rowOf = (holdId: string, charge: string | null = '60'): SettleRow => ({
  hold_id: holdId,
  account_id: 'acc_1',
  charge,
  status: 'succeeded',
  basis: 'usage',
  review: false,
  lines: [{ unit: 'call', quantity: 1 }],
  attempts: [],
  upstream_cost: null,
  upstream_cost_version: null,
  error: 'a line\nand “another”',
  task_id: null,
  answer: null,
})

function open(
  t: TestContext,
  folder = join(mkdtempSync(join(tmpdir(), 'tributary-journal-')), 'j'),
) {
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const errors: unknown[] = []
  const log = { error: (fields: object) => errors.push(fields), warn: () => undefined }
  const path = join(folder, 'own_1.jsonl')
  const journal = openJournal({ folder, ownerId: 'own_1', log })
  const read = () => parseRows(readFileSync(path, 'utf8'))
  return { folder, path, journal, read, errors }
}

/** Settles the journals of a folder as the process `own_2`. */
async function settleAll(folder: string, alive: readonly string[] = []) {
  const rows: SettleRow[] = []
  let posted = 0
  const log = {
    error: () => undefined,
    warn: ({ count }: { readonly count?: unknown }) => {
      posted += Number(count)
    },
  }
  const journal = openJournal({ folder, ownerId: 'own_2', log })
  await journal.settleOthers({
    isAlive: async (owner) => alive.includes(owner),
    async settle(row) {
      rows.push(row)
      if (row.hold_id === 'hold_foreign') return 'unknown'
      return row.hold_id === 'hold_closed' ? 'already' : 'closed'
    },
  })
  await journal.close()
  return { posted, rows }
}

test('what was added and not removed is read back, as it was', async (t) => {
  const { folder, path, journal } = open(t)
  const rows = ['hold_1', 'hold_2', 'hold_closed'].map((id) => rowOf(id))
  await Promise.all(rows.map((row) => journal.add(row)))
  await journal.close()
  assert.deepEqual(await settleAll(folder), { posted: 2, rows })
  assert.equal(existsSync(path), false)
})

test('once all are committed the file is empty; new ones are found from its start', async (t) => {
  const { folder, journal, read } = open(t)
  await journal.add(rowOf('hold_1', '1234567890123'))
  await journal.add(rowOf('hold_2'))
  journal.remove('hold_1')
  journal.remove('hold_2')
  await until('an empty file', () => read().length === 0 || undefined)
  const last = rowOf('hold_3', null)
  await journal.add(last)
  assert.deepEqual(read(), [last])
  journal.remove('hold_3')
  await journal.close()
  assert.deepEqual(await settleAll(folder), { posted: 0, rows: [] })
})

test('its own journal and those of live processes are left alone', async (t) => {
  const { folder, path, journal } = open(t)
  await journal.add(rowOf('hold_1'))
  assert.deepEqual(await settleAll(folder, ['own_1']), { posted: 0, rows: [] })
  await journal.settleOthers({
    isAlive: async () => false,
    settle: () => assert.fail('its own settlements are posted from memory'),
  })
  assert.equal((await settleAll(folder)).posted, 1)
  assert.equal(existsSync(path), false)
  await journal.close()
})

test('settlements that the database does not know are set aside, not deleted', async (t) => {
  const { folder, path, journal } = open(t)
  const rows = ['hold_1', 'hold_foreign'].map((id) => rowOf(id))
  await Promise.all(rows.map((row) => journal.add(row)))
  await journal.close()
  assert.deepEqual(await settleAll(folder), { posted: 1, rows })
  assert.equal(existsSync(path), false)
  assert.deepEqual(parseRows(readFileSync(`${path}.unknown`, 'utf8')), rows)
  assert.deepEqual(await settleAll(folder), { posted: 0, rows: [] })
})

test('a journal that cannot be read keeps no other from being settled', async (t) => {
  const { folder, journal } = open(t)
  await journal.add(rowOf('hold_1'))
  mkdirSync(join(folder, 'own_0.jsonl'))
  await journal.close()
  assert.equal((await settleAll(folder)).posted, 1)
})

test('a process that was taken for dead writes its journal again', async (t) => {
  const { path, journal, read } = open(t)
  await journal.add(rowOf('hold_1'))
  rmSync(path)
  await journal.add(rowOf('hold_2'))
  assert.deepEqual(read(), [rowOf('hold_2')])
  await journal.close()
})

test('a cut off line, strange bytes and rows of another shape are passed over', async (t) => {
  const { folder, journal } = open(t)
  await journal.close()
  const lines = [
    JSON.stringify(rowOf('hold_1')),
    '',
    '[1]',
    '{"hold_id":"hold_x"}',
    JSON.stringify({ ...rowOf('hold_x'), charge: '-5' }),
    JSON.stringify({ ...rowOf('hold_x'), charge: 5 }),
    '\0\0\0\u{1f4a5}',
    `\0\0${JSON.stringify(rowOf('hold_2'))}`,
    JSON.stringify(rowOf('hold_x')).slice(0, -1),
  ]
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'own_0.jsonl'), lines.join('\n'))
  assert.deepEqual((await settleAll(folder)).rows, [rowOf('hold_1'), rowOf('hold_2')])
})

test('a folder that cannot be written is reported, and no response waits for it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-journal-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'file'), '')
  const { journal, errors } = open(t, join(folder, 'file', 'below'))
  await journal.add(rowOf('hold_1'))
  assert.ok(errors.length > 0)
  await journal.close()
})

test('a full disk has room for the first settlements', { skip: noSmallDisk }, async (t) => {
  const disk = mountSmallDisk(t, 1)
  const { journal, read, errors } = open(t, join(disk, 'settlements'))
  await journal.add(rowOf('hold_0'))
  journal.remove('hold_0')
  await until('an empty file', () => read().length === 0 || undefined)
  assert.throws(() => writeFileSync(join(disk, 'ballast'), Buffer.alloc(2 ** 21)), /ENOSPC/)
  const rows = Array.from({ length: 300 }, (_, index) => rowOf(`hold_${index}`))
  await Promise.all(rows.map((row) => journal.add(row)))
  assert.deepEqual([read(), errors], [rows, []])
  await journal.close()
})

test('a disk that takes a part gets the rest later', { skip: noSmallDisk }, async (t) => {
  const disk = mountSmallDisk(t, 1)
  const { journal, read, errors } = open(t, join(disk, 'settlements'))
  await journal.add(rowOf('hold_0'))
  const ballast = join(disk, 'ballast')
  assert.throws(() => writeFileSync(ballast, Buffer.alloc(2 ** 21)), /ENOSPC/)
  const rows = Array.from({ length: 1_500 }, (_, index) => rowOf(`hold_${index}`))
  await Promise.all(rows.slice(1).map((row) => journal.add(row)))
  assert.ok(errors.length > 0, 'it is reported')
  rmSync(ballast)
  const last = rowOf('hold_last')
  await journal.add(last)
  assert.deepEqual(read(), [...rows, last])
  await journal.close()
})

test('a settlement that waits holds up neither the others nor the sweep after them', async (t) => {
  const { folder, path, journal: own } = open(t)
  await own.close()
  const log = { error: () => undefined, warn: () => undefined }
  const journal = openJournal({ folder, ownerId: 'own_2', log, settleMsMax: 50 })
  const dead = join(folder, 'own_0.jsonl')
  writeFileSync(dead, `${JSON.stringify(rowOf('hold_locked'))}\n`)
  writeFileSync(path, `${JSON.stringify(rowOf('hold_1'))}\n`)
  const settled: string[] = []
  const unlocked = Promise.withResolvers<void>()
  const by = {
    isAlive: async () => false,
    async settle(row: SettleRow) {
      settled.push(row.hold_id)
      if (row.hold_id === 'hold_locked') await unlocked.promise
      return 'closed' as const
    },
  }
  await journal.settleOthers(by)
  await journal.settleOthers(by)
  assert.deepEqual(settled.sort(), ['hold_1', 'hold_locked'], 'each once')
  assert.deepEqual([existsSync(dead), existsSync(path)], [true, false])
  unlocked.resolve()
  await until('its deletion', () => !existsSync(dead) || undefined)
  await journal.close()
})

test('what a process writes after it was taken for dead is settled too', async (t) => {
  const { folder, path, journal: own } = open(t)
  await own.close()
  const log = { error: () => undefined, warn: () => undefined }
  const journal = openJournal({ folder, ownerId: 'own_2', log })
  const text = (...ids: string[]) => ids.map((id) => `${JSON.stringify(rowOf(id))}\n`).join('')
  writeFileSync(path, text('hold_1'))
  const settled = new Set<string>()
  await journal.settleOthers({
    isAlive: async () => false,
    async settle({ hold_id: id }) {
      if (!settled.has(id)) writeFileSync(path, text('hold_1', 'hold_2'))
      settled.add(id)
      return 'closed'
    },
  })
  assert.deepEqual([...settled], ['hold_1', 'hold_2'])
  assert.equal(existsSync(path), false)
  await journal.close()
})
