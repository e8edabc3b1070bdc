/** Objects of archives: rows as they were, whatever callers wrote; earlier forms as well. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { sealEverything } from '../../server/money/ledger/books/sealer.ts'
import { countEndedCalls } from '../../server/money/usage/rollup-store.ts'
import { archivePeriod } from '../../server/work/archive/archive-period.ts'
import { beginArchive, removeRows } from '../../server/work/archive/archive-store.ts'
import { auditArchives } from '../../server/work/archive/audit-archives.ts'
import { selectBatch } from '../../server/work/archive/batch-store.ts'
import { findArchived, readPeriodLines } from '../../server/work/archive/find-record.ts'
import { checkWritten, sha256Of, writeObject } from '../../server/work/archive/objects.ts'
import { linesOfObject } from '../../server/work/archive/table-text.ts'
import { brokenInvariants } from '../ledger/support.ts'
import { MONTH, openShelf, postCalls, sumBooks } from './support.ts'

/** Text with what the format itself uses; PostgreSQL keeps no zero characters. */
const text = fc.oneof(
  fc.constantFrom('\\.', '\\N', '\n\\.\n', 'copy hold from stdin;', '\t\\t', '"},', '', 'NULL'),
  fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\0', '').toWellFormed()),
)

test('rows are read back as they were, whatever callers wrote into them', async (t) => {
  const { sql, callers } = await openShelf(t)
  const [hold] = await postCalls(sql, callers, { calls: 1 })
  assert.ok(hold)
  const range = { after: MONTH.afterId, endId: MONTH.endId }
  await fc.assert(
    fc.asyncProperty(text, text, fc.jsonValue({ maxDepth: 2 }), async (model, label, value) => {
      const json = JSON.stringify({ label, value }).replaceAll('\\u0000', '')
      await sql`
        update call set model = ${model}, error = ${label}, lines = ${json}::text::jsonb,
          labels = ${sql.json([label])} where hold_id = ${hold.id}`
      const batch = await selectBatch(sql, range, { holds: 9, callBytes: 1 })
      const [expected] = await sql`
        select line::jsonb as line from archive_lines(${MONTH.afterId}, ${MONTH.endId}, 9)`
      const found = linesOfObject(batch?.content.toString() ?? '')
      assert.deepEqual(
        found.map((line) => JSON.parse(line)),
        [expected?.line],
      )
    }),
    { numRuns: 25 },
  )
})

test('batches that are cut by their bytes have every row once', async (t) => {
  const { sql, callers } = await openShelf(t)
  const holds = await postCalls(sql, callers, { calls: 9 })
  const found: string[] = []
  let after = MONTH.afterId
  for (let turn = 0; turn < holds.length; turn += 1) {
    const batch = await selectBatch(
      sql,
      { after, endId: MONTH.endId },
      { holds: 4, callBytes: turn === 0 ? 900 : 1 },
    )
    if (!batch) break
    const ids = linesOfObject(batch.content.toString()).map((line) => JSON.parse(line).hold.id)
    assert.equal(ids.length, batch.holds)
    assert.deepEqual([ids[0], ids.at(-1)], [batch.first, batch.last])
    found.push(...ids)
    after = batch.last
  }
  assert.deepEqual(
    found,
    holds.map(({ id }) => id),
  )
})

test('an archive with objects of both forms is read, verified and audited', async (t) => {
  const shelf = await openShelf(t)
  const { sql, blobs, callers } = shelf
  const holds = await postCalls(sql, callers, { calls: 8 })
  await sealEverything(sql)
  while (await countEndedCalls(sql, 86_400));
  const sums = await sumBooks(sql)
  await beginArchive(sql, MONTH)
  const upto = holds[4]?.id ?? ''
  await sql.begin(async (transaction) => {
    const rows = await transaction`select line from archive_lines(${MONTH.afterId}, ${upto}, 99)`
    const content = rows.map(({ line }) => `${line}\n`).join('')
    const packed = gzipSync(content)
    const { key, bytes, sha256 } = await blobs.write(Readable.from([packed]), packed.length)
    await blobs.adopt(transaction, key)
    const [row] = await transaction`select archive_version(${MONTH.afterId}, ${upto}) as version`
    const range = { name: MONTH.name, after: MONTH.afterId, upto, version: row?.version }
    const object = { storage_key: key, bytes, sha256, content_sha256: sha256Of(content) }
    assert.equal(await removeRows(transaction, range, object), 'removed')
  })
  assert.deepEqual(await archivePeriod(MONTH, { sql, blobs }), { holds: 3, objects: 1 })
  assert.deepEqual(await sumBooks(sql), sums)
  assert.deepEqual(await brokenInvariants(sql), [])
  const checks = await auditArchives(sql, blobs)
  assert.deepEqual(
    checks.flatMap(({ details }) => details),
    [],
  )
  const read: string[] = []
  for await (const lines of readPeriodLines(sql, blobs, MONTH.name)) read.push(lines)
  const records = read.join('').trimEnd().split('\n')
  assert.deepEqual(
    records.map((line) => JSON.parse(line).hold.id),
    holds.map(({ id }) => id),
  )
  for (const { request_id } of [holds[0], holds[7]].flatMap((one) => one ?? [])) {
    assert.equal((await findArchived(sql, blobs, request_id))?.call.request_id, request_id)
  }
})

test('an object that is damaged or of a later version says so', () => {
  for (const [content, message] of [
    ['-- tributary archive 3\n', /begins with "-- tributary archive 3".*a later one/],
    ['-- tributary archive 2\n', /damaged: a table is missing/],
    [
      '-- tributary archive 2\ncreate table if not exists hold (id text);\ncopy',
      /no key|end|missing/,
    ],
    [
      `-- tributary archive 2
create table if not exists hold (id text);
copy hold from stdin;
hold_1
\\.
create table if not exists call (request_id text, hold_id text);
copy call from stdin;
req_2\thold_2
\\.
create table if not exists entry (id bigint, posting text);
copy entry from stdin;
\\.
`,
      /damaged: a row belongs to no hold/,
    ],
  ] as const) {
    assert.throws(() => linesOfObject(content), message)
  }
})

test('what is read back is compared with all that was written', async (t) => {
  const { blobs } = await openShelf(t)
  // Longer than a piece.
  const content = randomBytes(1_500_000)
  const object = await writeObject(blobs, content)
  await checkWritten(blobs, object, content)
  const changed = Buffer.from(content)
  changed.writeUInt8(changed.readUInt8(1_400_000) ^ 1, 1_400_000)
  for (const other of [
    changed,
    content.subarray(0, -1),
    Buffer.concat([content, Buffer.from('x')]),
  ]) {
    await assert.rejects(checkWritten(blobs, object, other), /damaged: other lines/)
  }
  const packed = Buffer.from('not packed')
  const { key, bytes, sha256 } = await blobs.write(Readable.from([packed]), packed.length)
  const plain = { ...object, storage_key: key, bytes, sha256 }
  await assert.rejects(checkWritten(blobs, plain, packed), /damaged: it cannot be unpacked/)
})
