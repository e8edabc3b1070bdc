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
    ['RIFF\0\0\0\0WAVE', 'audio.wav'],
    ['RIFF\0\0\0\0AVI ', undefined],
    ['OggS', 'audio.ogg'],
    ['fLaC', 'audio.flac'],
    ['ID3\x04', 'audio.mp3'],
    ['\xff\xfb\x90\x00', 'audio.mp3'],
    ['\xff\xf1\x90\x00', undefined],
    ['\xff\xfeh\0i\0', undefined],
    ['\x1aE\xdf\xa3', 'audio.webm'],
    ['\x00\x00\x00 ftypM4A ', 'audio.m4a'],
    ['\x00\x00\x00 ftypisom', 'audio.mp4'],
    ['hello', undefined],
    ['', undefined],
  ] as const) {
    assert.equal(nameRecording(Buffer.from(head, 'latin1')), name)
  }
})

test('a file that states no length is bounded by its bytes', () => {
  assert.equal(measure(Buffer.from('RIFF'), 1).seconds, 1)
  assert.equal(measure(Buffer.alloc(5_000), 64).seconds, 5)
  const wav = makeWav(Buffer.alloc(2_000))
  wav.writeUInt32LE(0, 28)
  assert.equal(measure(wav, 64).seconds, 3)
  assert.equal(measure(Buffer.alloc(0), 1).seconds, 0)
})

const HOUR_SECONDS = 3600

/** One page of one packet of 20 ms for each of `pages`, which states `position`. */
function oggPages(serial: number, pages: number, position: bigint): Buffer {
  const page = (packet: Buffer, flags: number) => {
    const head = Buffer.alloc(28)
    head.write('OggS')
    head[5] = flags
    head.writeBigInt64LE(position, 6)
    head.writeUInt32LE(serial, 14)
    head[26] = 1
    head[27] = packet.length
    return Buffer.concat([head, packet])
  }
  const opusHead = page(Buffer.from('OpusHead'.padEnd(19, '\0')), 2)
  return Buffer.concat([
    opusHead,
    ...Array.from({ length: pages }, () => page(Buffer.alloc(40, 0x48), 0)),
  ])
}

for (const [name, file, seconds] of [
  ['pages that state an earlier position', oggPages(1, 500, 1n), 10],
  ['a page that states a position before the beginning', oggPages(1, 500, -1n), 10],
  ['one recording behind another', Buffer.concat([oggPages(1, 500, 9n), oggPages(2, 50, 9n)]), 11],
  [
    'sound of another kind behind it',
    Buffer.concat([oggPages(1, 500, 9n), Buffer.alloc(60_000)]),
    70,
  ],
] as const) {
  test(`ogg: ${name}`, () => {
    for (const pieceBytes of [7, 4096, file.length]) {
      assert.equal(measure(file, pieceBytes).seconds, seconds)
    }
  })
}

test('wav: a rate is believed only where the samples are plain', () => {
  const samples = Buffer.alloc(30_000)
  for (const [tag, seconds] of [
    [1, 1],
    [3, 1],
    [0x55, 31],
    [0x11, 31],
  ] as const) {
    const wav = makeWav(samples)
    wav.writeUInt16LE(tag, 20)
    assert.equal(measure(wav, 1000).seconds, seconds)
  }
  const video = makeWav(samples)
  video.write('AVI ', 8)
  assert.equal(measure(video, 1000).seconds, 31)
})

test('mp3: frames of another kind count as the slowest sound', () => {
  const frame = (head: readonly number[], bytes: number) =>
    Buffer.from([...head, ...Buffer.alloc(bytes - 4)])
  const quick = Buffer.concat(Array.from({ length: 40 }, () => frame([0xff, 0xfb, 0xe0, 0], 1044)))
  const slow = Buffer.concat(Array.from({ length: 400 }, () => frame([0xff, 0xf3, 0x18, 0], 36)))
  const measured = measure(Buffer.concat([quick, slow]), 1000)
  assert.ok(measured.seconds >= slow.length / 1000, `${measured.seconds} s`)
  assert.ok(measured.seconds < HOUR_SECONDS)
})
