/** Lengths by the files' own headers, however their bytes arrive. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createAudioMeter,
  nameRecording,
} from '../../../server/dialects/transcription/measure-audio.ts'
import { render } from '../../../simulators/openspeech/audio/render.ts'
import { makeWav, wavChunk } from '../../support/wav.ts'

function measure(file: Buffer, pieceBytes: number) {
  const meter = createAudioMeter()
  for (let at = 0; at < file.length; at += pieceBytes) {
    meter.push(file.subarray(at, at + pieceBytes))
  }
  return meter.end()
}

const TEXT = 'word '.repeat(50)

for (const [format, seconds] of [
  ['mp3', 10],
  ['ogg_opus', 10],
] as const) {
  test(`${format}: fifty words take about ten seconds`, () => {
    const sampleRate = format === 'mp3' ? 24_000 : 48_000
    const voice = { format, sampleRate, bitRate: 64_000, speed: 1, silenceMs: 0 }
    const file = Buffer.concat(render(TEXT, voice, undefined).fragments.map(({ audio }) => audio))
    for (const pieceBytes of [7, 4096, file.length]) {
      const measured = measure(file, pieceBytes)
      assert.equal(measured.bytes, file.length)
      assert.ok(Math.abs(measured.seconds - seconds) <= 1, `${measured.seconds} s`)
    }
  })
}

test('wav: by its rate', () => {
  assert.equal(measure(makeWav(Buffer.alloc(32_000 * 3)), 1000).seconds, 4)
  assert.equal(measure(makeWav(Buffer.alloc(32_000 * 3 - 44)), 1000).seconds, 3)
})

test('wav: whatever stands before its format, and by the slower of the two rates it states', () => {
  const samples = Buffer.alloc(32_000 * 3 - 44)
  const listed = makeWav(samples, { first: wavChunk('LIST', Buffer.from('INFOa')) })
  assert.equal(measure(listed, 100).seconds, 4)
  for (const [at, rate] of [
    [24, 4_000_000_000],
    [28, 4_000_000_000],
    [28, 16_000],
  ] as const) {
    const lying = makeWav(samples)
    lying.writeUInt32LE(rate, at)
    assert.equal(measure(lying, 100).seconds, rate === 16_000 ? 6 : 3)
  }
})

test('a recording is known by its first bytes', () => {
  for (const [head, name] of [
    ['RIFF', 'audio.wav'],
    ['OggS', 'audio.ogg'],
    ['fLaC', 'audio.flac'],
    ['ID3\x04', 'audio.mp3'],
    ['\xff\xfb\x90\x00', 'audio.mp3'],
    ['\xff\xf1\x90\x00', undefined],
    ['\x1aE\xdf\xa3', 'audio.webm'],
    ['\x00\x00\x00 ftypM4A ', 'audio.m4a'],
    ['\x00\x00\x00 ftypisom', 'audio.mp4'],
    ['hello', undefined],
    ['', undefined],
  ] as const) {
    assert.equal(nameRecording(Buffer.from(head, 'latin1')), name)
  }
})

test('what says nothing of its length is bounded by its bytes', () => {
  assert.equal(measure(Buffer.from('RIFF'), 1).seconds, 1)
  assert.equal(measure(Buffer.alloc(5_000), 64).seconds, 5)
  const wav = makeWav(Buffer.alloc(2_000))
  wav.writeUInt32LE(0, 28)
  assert.equal(measure(wav, 64).seconds, 3)
  assert.equal(measure(Buffer.alloc(0), 1).seconds, 0)
})
