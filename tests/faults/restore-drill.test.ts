/**
 * A short drill of docs/guides/backup-and-restore.md#proof: three gateways, rows of mixed
 * widths, deletes, kill -9, and each backup can be restored. `npm run prove:restore` is the long
 * one.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runDrill } from '../../proofs/restore/drill.ts'

test('backups of a busy database come back, and so does an instant of its archive', async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  t.diagnostic(`seed ${seed}`)
  const log = (text: string) => t.diagnostic(text)
  const drill = await runDrill({ seed, backups: 1, points: 1, perSecond: 8, log })
  assert.deepEqual(drill.sourceBreaks, [])
  assert.deepEqual([drill.backups.length, drill.points.length, drill.kills], [1, 1, 1])
  for (const { name, breaks, rows } of [...drill.backups, ...drill.points]) {
    assert.deepEqual(breaks, [], `${name}, seed ${seed}`)
    assert.ok(rows > 0, name)
  }
  assert.ok(
    drill.backups.every(({ later }) => later > 0),
    'the load went on',
  )
  assert.ok(drill.points.every(({ known }) => known > 0))
})
