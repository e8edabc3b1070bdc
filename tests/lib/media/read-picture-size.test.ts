import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPictureSize } from '../../../server/base/lib/media/read-picture-size.ts'

const pad = (...bytes: (string | number[])[]) =>
  Buffer.concat([
    ...bytes.map((part) =>
      typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part),
    ),
    Buffer.alloc(40),
  ])

const CASES = {
  png: pad('\x89PNG\r\n\x1a\n', [0, 0, 0, 13], 'IHDR', [0, 0, 2, 0, 0, 0, 1, 0]),
  gif: pad('GIF89a', [0, 2, 0, 1]),
  'webp, lossy': pad('RIFF', [0, 0, 0, 0], 'WEBPVP8 ', Array(10).fill(0), [0, 2, 0, 1]),
  'webp, lossless': pad('RIFF', [0, 0, 0, 0], 'WEBPVP8L', [0, 0, 0, 0, 0x2f, 0xff, 0xc1, 0x3f]),
  'webp, extended': pad('RIFF', [0, 0, 0, 0], 'WEBPVP8X', Array(8).fill(0), [255, 1, 0, 255]),
  jpeg: pad([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1, 0xff, 0xc0, 0, 17, 8, 1, 0, 2, 0]),
}

for (const [name, bytes] of Object.entries(CASES)) {
  test(`${name}: 512 × 256`, () => {
    assert.deepEqual(readPictureSize(bytes), { width: 512, height: 256 })
  })
}

test('what is short, unknown or broken has none', () => {
  const broken = pad([0xff, 0xd8, 0xff, 0xe0, 255, 255])
  for (const bytes of [Buffer.alloc(0), Buffer.from('GIF89a'), Buffer.alloc(64), broken]) {
    assert.equal(readPictureSize(bytes), undefined)
  }
})
