/** Bytes that are gathered: in memory within the account's share, beyond it on disk. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { Gathering } from '../../../server/base/lib/memory/gathering.ts'
import type { Memory } from '../../../server/base/lib/memory/memory.ts'
import { testMemory } from '../../support/memory.ts'

const MB = 1024 ** 2
const folder = mkdtempSync(join(tmpdir(), 'tributary-gathering-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function gather(memory: Memory, bytesMax = Infinity): Gathering {
  return new Gathering({ memory, account: 'a', kind: 'arriving', bytesMax })
}

/** Pushes as a paused source would, and returns what was gathered. */
async function pushAll(gathering: Gathering, chunks: readonly Buffer[]): Promise<Buffer> {
  for (const chunk of chunks) if (!gathering.push(chunk)) await gathering.kept()
  await gathering.kept()
  return gathering.load()
}

const usedBy = ({ bytes, disk }: Memory) => [bytes.usedInAll(), disk.usedInAll()]

test('what fits stays in memory, and is given back', async () => {
  const memory = testMemory({ folder })
  const gathering = gather(memory)
  const loaded = await pushAll(gathering, [Buffer.from('one'), Buffer.from('two')])
  assert.equal(loaded.toString(), 'onetwo')
  assert.deepEqual(usedBy(memory), [6, 0])
  gathering.close()
  assert.deepEqual(usedBy(memory), [0, 0])
})

test('chunks of its own return their memory once they are joined; shared memory stays', async () => {
  const options = { memory: testMemory({ folder }), account: 'a', bytesMax: Infinity }
  const shared = Buffer.alloc(200, 'y')
  for (const ownsChunks of [true, false]) {
    const gathering = new Gathering({ ...options, kind: 'arriving', ownsChunks })
    const [first, second] = [Buffer.alloc(100, 'x'), shared.subarray(50, 150)]
    const loaded = await pushAll(gathering, [first, second])
    assert.equal(loaded.toString(), 'x'.repeat(100) + 'y'.repeat(100))
    assert.equal(first.length, ownsChunks ? 0 : 100)
    assert.equal(shared.toString(), 'y'.repeat(200))
    gathering.close()
  }
  const alone = new Gathering({ ...options, kind: 'arriving', ownsChunks: true })
  assert.equal((await pushAll(alone, [Buffer.alloc(3, 'z')])).toString(), 'zzz')
  alone.close()
})

test('chunks of single bytes are kept in few pieces', async () => {
  const gathering = gather(testMemory({ folder }))
  const single = Array.from({ length: 20_000 }, (_, at) => Buffer.from([at]))
  const sent = [...single, Buffer.alloc(5_000, 'x'), ...single]
  for (const chunk of sent) gathering.push(chunk)
  const kept: Buffer[] = await gathering.stream().toArray()
  assert.deepEqual(Buffer.concat(kept), Buffer.concat(sent))
  assert.ok(kept.length < 20, `${kept.length} pieces`)
  gathering.close()
})

test('a body beyond the limit of one, or the share of its account, goes to disk', async () => {
  for (const [bytesMax, memory] of [
    [1_000, testMemory({ folder })],
    [Infinity, testMemory({ folder, bytesMax: 17_000 })],
  ] as const) {
    const gathering = gather(memory, bytesMax)
    const chunks = Array.from({ length: 50 }, (_, at) => Buffer.alloc(100, at))
    const loaded = await pushAll(gathering, chunks)
    assert.ok(loaded.equals(Buffer.concat(chunks)))
    assert.equal(gathering.isOnDisk, true)
    assert.deepEqual(usedBy(memory), [0, 5_000])
    // Unlinked at once.
    assert.deepEqual(readdirSync(folder), [])
    assert.ok(Buffer.concat(await gathering.stream().toArray()).equals(loaded))
    gathering.close()
    assert.deepEqual(usedBy(memory), [0, 0])
  }
})

test('without room on disk it is refused: 429 for the own share, 503 without space', async () => {
  const full = testMemory({ folder, diskBytesMax: 3 * MB })
  const gathering = gather(full, 0)
  const chunks = [Buffer.alloc(MB), Buffer.alloc(MB)]
  await assert.rejects(pushAll(gathering, chunks), { row: 'rate_limited' })
  gathering.close()
  full.disk.portion('b', 'spool').force(2 * MB + 1)
  const other = gather(full, 0)
  await assert.rejects(pushAll(other, [Buffer.alloc(MB)]), { row: 'unavailable' })
  other.close()
  assert.deepEqual(usedBy(full), [0, 2 * MB + 1])
})

test('closed at any moment, it gives everything back', async () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(sizes, fc.nat(20), fc.boolean(), async (lengths, closeAt, waits) => {
      const memory = testMemory({ folder, bytesMax: 50_000 })
      const gathering = gather(memory, 10_000)
      for (const [at, length] of lengths.entries()) {
        if (at === closeAt) gathering.close()
        const isRoom = gathering.push(Buffer.alloc(length))
        if (!isRoom && waits) await gathering.kept()
      }
      gathering.close()
      await gathering.kept().catch(() => undefined)
      assert.deepEqual(usedBy(memory), [0, 0])
    }),
    { numRuns: 60 },
  )
})
