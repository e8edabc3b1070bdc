/** Bytes that wait for more are copied together, into memory that is given back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Slabs } from '../../../server/base/lib/memory/slabs.ts'

const KB = 1024
const MB = 1024 ** 2

function fill(sizes: readonly number[]) {
  const slabs = new Slabs()
  const chunks = sizes.map((size, at) => Buffer.alloc(size, `${at} `))
  for (const chunk of chunks) slabs.add(chunk)
  return { slabs, whole: Buffer.concat(chunks) }
}

test('the bytes come out as they were put in, and their memory is bounded', () => {
  const size = fc.constantFrom(0, 1, 100, 4_095, 4_096, 4_097, 64 * KB, 300 * KB, 3 * MB)
  const check = (sizes: readonly number[], inPieces: boolean) => {
    const { slabs, whole } = fill(sizes)
    assert.equal(slabs.bytes, whole.length)
    assert.ok(slabs.capacity <= whole.length + Math.max(4 * KB, Math.min(whole.length, MB)))
    const taken = inPieces ? Buffer.concat(slabs.take()) : slabs.takeWhole()
    assert.ok(taken.equals(whole))
    assert.deepEqual([slabs.bytes, slabs.capacity], [0, 0])
    assert.equal(slabs.takeWhole().length, 0)
  }
  fc.assert(fc.property(fc.array(size, { maxLength: 30 }), fc.boolean(), check), { numRuns: 60 })
})

test('a chunk is copied, so that its own memory can go', () => {
  const slabs = new Slabs()
  const chunk = Buffer.from('before')
  slabs.add(chunk)
  chunk.fill('x')
  assert.equal(slabs.takeWhole().toString(), 'before')
})

test('8 MB in chunks of 64 KB have few slabs, which go once they are joined', (t) => {
  const allocate = t.mock.method(Buffer, 'allocUnsafe')
  const { slabs } = fill(Array(128).fill(64 * KB))
  const made = allocate.mock.calls.flatMap(({ result }) => result ?? [])
  allocate.mock.restore()
  assert.ok(made.length <= 16, `${made.length} slabs`)
  const large = made.filter(({ length }) => length >= 128 * KB)
  assert.ok(large.every(({ length }) => length <= MB))
  assert.equal(slabs.takeWhole().length, 8 * MB)
  assert.deepEqual(new Set(large.map(({ buffer }) => buffer.byteLength)), new Set([0]))
})
