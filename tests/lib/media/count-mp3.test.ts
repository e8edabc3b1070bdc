/** The frames of an MP3, counted however it is cut into pieces. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMp3Counter } from '../../../server/lib/media/count-mp3.ts'
import { mp3Frames, mp3SamplesInFrame } from '../../../simulators/openspeech/audio/count.ts'
import { render } from '../../../simulators/openspeech/audio/render.ts'

function speak(bitRate: number, sampleRate = 24_000): Buffer {
  const voice = { format: 'mp3', sampleRate, bitRate, speed: 1, silenceMs: 0 } as const
  const { fragments } = render('word '.repeat(20), voice, undefined)
  return Buffer.concat(fragments.map(({ audio }) => audio))
}

/** As the simulators' own reader counts. */
function lengthOf(file: Buffer): number {
  const frames = mp3Frames(file)
  const rate = frames[0]?.sampleRate ?? 1
  return (frames.length * mp3SamplesInFrame(rate)) / rate
}

function count(file: Buffer, pieceBytes = file.length): number | undefined {
  const counter = createMp3Counter()
  for (let at = 0; at < file.length; at += Math.max(1, pieceBytes)) {
    counter.push(file.subarray(at, at + pieceBytes))
  }
  return counter.seconds()
}

/** With something in it that looks like a frame. */
function tag(bytes: number): Buffer {
  const head = Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, bytes >> 7, bytes & 0x7f])
  return Buffer.concat([head, Buffer.alloc(bytes, Buffer.from([0xff, 0xfb, 0x90, 0]))])
}

const near = (found: number | undefined, seconds: number) =>
  assert.ok(Math.abs((found ?? 0) - seconds) < 0.001, `${found} s, not ${seconds} s`)

for (const sampleRate of [24_000, 16_000, 44_100]) {
  test(`a constant rate, at ${sampleRate} samples in a second`, () => {
    const file = speak(64_000, sampleRate)
    for (const pieceBytes of [1, 3, 1000, file.length]) {
      near(count(file, pieceBytes), lengthOf(file))
    }
  })
}

test('rates that change, a tag before and another one after', () => {
  const [low, high] = [speak(32_000), speak(128_000)]
  const file = Buffer.concat([tag(900), high, low, low, Buffer.from('TAG'.padEnd(128))])
  for (const pieceBytes of [7, 4096]) {
    near(count(file, pieceBytes), lengthOf(high) + 2 * lengthOf(low))
  }
})

test('what lies between frames is passed over', () => {
  const file = speak(64_000)
  near(count(Buffer.concat([file, Buffer.alloc(500, 0x41), file])), 2 * lengthOf(file))
})

test('a file without frames, or with few, has no length', () => {
  assert.equal(count(Buffer.alloc(0)), undefined)
  assert.equal(count(Buffer.from('ID3')), undefined)
  assert.equal(count(Buffer.alloc(10_000, 0x55)), undefined)
  const file = speak(64_000)
  assert.equal(count(Buffer.concat([file.subarray(0, 3000), Buffer.alloc(50_000)])), undefined)
})
