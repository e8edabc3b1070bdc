/** Lengths of frames are read at any chunking, whatever the frames contain. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameLengths } from '../../../../server/api/endpoints/text/socket/frame-lengths.ts'
import { createRandom } from '../../../../testbed/random.ts'

const LONG_BYTES = 300

/** Returns a frame whose content looks like heads of frames. */
function frame(bytes: number, isMasked: boolean): Buffer {
  const mask = isMasked ? 0x80 : 0
  const head =
    bytes < 126
      ? [0x81, mask | bytes]
      : bytes < 65_536
        ? [0x82, mask | 126, bytes >> 8, bytes & 0xff]
        : [0x01, mask | 127, 0, 0, 0, 0, 0, bytes >> 16, (bytes >> 8) & 0xff, bytes & 0xff]
  return Buffer.concat([
    Buffer.from(head),
    Buffer.alloc(isMasked ? 4 : 0, 0x7f),
    Buffer.alloc(bytes, 0xff),
  ])
}

test('each long frame is told once its head is there, and all else is counted', () => {
  const random = createRandom(1)
  for (let round = 0; round < 200; round += 1) {
    const lengths = Array.from({ length: 6 }, () => random.pick([0, 1, 125, 126, 300, 301, 70_000]))
    const frames = lengths.map((bytes) => frame(bytes, random.next() < 0.5))
    const all = Buffer.concat(frames)
    const told: number[] = []
    const reader = new FrameLengths(LONG_BYTES, (bytes) => told.push(bytes))
    let others = 0
    for (let at = 0; at < all.length; ) {
      const end = at + 1 + Math.floor(random.next() * random.pick([2, 20, 65_536]))
      others += reader.push(all.subarray(at, end))
      at = end
    }
    const long = lengths.filter((bytes) => bytes > LONG_BYTES)
    assert.deepEqual(told, long)
    assert.equal(others, all.length - long.reduce((sum, bytes) => sum + bytes, 0))
    assert.equal(reader.isInLong(), false)
  }
})

test('a long frame is told before its content, and is under way until the last byte', () => {
  const told: number[] = []
  const reader = new FrameLengths(LONG_BYTES, (bytes) => told.push(bytes))
  const whole = frame(301, true)
  for (const byte of whole.subarray(0, 8)) reader.push(Buffer.from([byte]))
  assert.deepEqual(told, [301])
  reader.push(whole.subarray(8, -1))
  assert.equal(reader.isInLong(), true)
  reader.push(whole.subarray(-1))
  assert.equal(reader.isInLong(), false)
})
