import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readVideoFacts } from '../../../server/base/lib/media/read-mp4.ts'
import { readPictureSize } from '../../../server/base/lib/media/read-picture-size.ts'
import { encodeMp4 } from '../../../simulators/media/mp4.ts'

const sample = { data: Buffer.alloc(100), intra: true }
const file = encodeMp4({
  width: 1280,
  height: 720,
  framesPerSecond: 24,
  note: {},
  samples: Array.from({ length: 60 }, () => sample),
  sequenceParameters: Buffer.from([0x67, 0x42, 0, 0x1f]),
  pictureParameters: Buffer.from([0x68]),
})
const FACTS = { width: 1280, height: 720, seconds: 2.5 }

/** The same box with 64-bit times. */
function lengthen(whole: Buffer, type: string): Buffer {
  const at = whole.indexOf(type)
  const moov = whole.indexOf('moov')
  const trak = whole.indexOf('trak')
  const box = Buffer.from(whole.subarray(at - 4, at - 4 + whole.readUInt32BE(at - 4)))
  const times = box.subarray(12)
  const [created, modified, third, fourth, fifth] = [0, 4, 8, 12, 16].map((offset) =>
    times.subarray(offset, offset + 4),
  )
  const none = Buffer.alloc(4)
  const parts = type === 'mvhd' ? [third, none, fourth] : [third, fourth, none, fifth]
  const long = Buffer.concat([none, created, none, modified, ...parts].map((part) => part ?? none))
  const grown = Buffer.concat([
    box.subarray(0, 12),
    long,
    times.subarray(type === 'mvhd' ? 16 : 20),
  ])
  grown[8] = 1
  const added = grown.length - box.length
  const out = Buffer.concat([whole.subarray(0, at - 4), grown, whole.subarray(at - 4 + box.length)])
  for (const parent of type === 'mvhd' ? [moov] : [moov, trak]) {
    out.writeUInt32BE(out.readUInt32BE(parent - 4) + added, parent - 4)
  }
  grown.writeUInt32BE(grown.length, 0)
  out.writeUInt32BE(grown.length, at - 4)
  return out
}

test('an MP4 with its index first', () => {
  assert.deepEqual(readVideoFacts(file), FACTS)
  assert.deepEqual(readVideoFacts(file.subarray(0, 1200)), FACTS, 'the beginning is enough')
})

test('the same with long times', () => {
  assert.deepEqual(readVideoFacts(lengthen(lengthen(file, 'mvhd'), 'tkhd')), FACTS)
})

test('what is no MP4, or has its index last, has no facts', () => {
  const index = file.indexOf('moov') - 4
  const indexBytes = file.readUInt32BE(index)
  const late = Buffer.concat([file.subarray(0, index), file.subarray(index + indexBytes)])
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(100), late, Buffer.from('GIF89a')]) {
    assert.deepEqual(readVideoFacts(bytes), {})
  }
})

test('no bytes whatsoever make it fail: a copy must not hang on them', () => {
  let seed = 7
  const random = (most: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed % most
  }
  const heads = ['\x89PNG\r\n\x1a\n', 'GIF89a', 'RIFF\0\0\0\0WEBPVP8X', '\xff\xd8\xff\xe0', '']
  for (let round = 0; round < 4_000; round += 1) {
    const bytes = Buffer.from(file.subarray(0, 40 + random(1_200)))
    for (let count = 0; count < 12; count += 1) bytes[random(bytes.length)] = random(256)
    readVideoFacts(bytes)
    const start = Buffer.from(heads[random(heads.length)] ?? '', 'latin1')
    readPictureSize(Buffer.concat([start, bytes]))
  }
})
