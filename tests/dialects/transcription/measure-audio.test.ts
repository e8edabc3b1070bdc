/** What recordings are charged by: begun seconds of their sound. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createAudioMeter,
  nameRecording,
} from '../../../server/wire/dialects/transcription/measure-audio.ts'
import { render } from '../../../simulators/openspeech/audio/render.ts'
import { makeWav, wavChunk } from '../../support/wav.ts'

function measure(file: Buffer, pieceBytes: number) {
  const meter = createAudioMeter()
  for (let at = 0; at < file.length; at += pieceBytes) {
    meter.push(file.subarray(at, at + pieceBytes))
  }
  return meter.end(async (start, end) => file.subarray(start, end + 1))
}

async function secondsOf(file: Buffer, pieceBytes = 1000): Promise<number> {
  return (await measure(file, pieceBytes)).seconds
}

const TEXT = 'word '.repeat(50)
const HOUR_SECONDS = 3600

for (const [format, seconds] of [
  ['mp3', 10],
  ['ogg_opus', 10],
] as const) {
  test(`${format}: fifty words take about ten seconds`, async () => {
    const sampleRate = format === 'mp3' ? 24_000 : 48_000
    const voice = { format, sampleRate, bitRate: 64_000, speed: 1, silenceMs: 0 }
    const file = Buffer.concat(render(TEXT, voice, undefined).fragments.map(({ audio }) => audio))
    for (const pieceBytes of [7, 4096, file.length]) {
      const measured = await measure(file, pieceBytes)
      assert.equal(measured.bytes, file.length)
      assert.ok(Math.abs(measured.seconds - seconds) <= 1, `${measured.seconds} s`)
    }
  })
}

test('wav: begun seconds of its samples, at least one', async () => {
  for (const [bytes, seconds] of [
    [32_000 * 3, 3],
    [32_000 * 3 + 2, 3],
    [32_000 * 3 + 32, 4],
    [2, 1],
    [0, 1],
  ] as const) {
    assert.equal(await secondsOf(makeWav(Buffer.alloc(bytes))), seconds, `${bytes}`)
  }
})

test('wav: whatever stands before its format, and whatever bytes per second it states', async () => {
  const samples = Buffer.alloc(32_000 * 3)
  const listed = makeWav(samples, { first: wavChunk('LIST', Buffer.alloc(5_001)) })
  assert.equal(await secondsOf(listed, 100), 3)
  for (const rate of [0, 1, 16_000, 4_000_000_000]) {
    const lying = makeWav(samples)
    lying.writeUInt32LE(rate, 28)
    assert.equal(await secondsOf(lying, 100), 3)
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

test('what is no recording is bounded by its bytes', async () => {
  assert.equal(await secondsOf(Buffer.from('RIFF')), 1)
  assert.equal(await secondsOf(Buffer.alloc(5_000), 64), 5)
  assert.equal(await secondsOf(Buffer.alloc(0)), 0)
})

test('a recording of a known kind that is not measured says why', async () => {
  const { seconds, fault } = await measure(Buffer.from(`RIFF0000AVI ${'0'.repeat(4_000)}`), 64)
  assert.deepEqual([seconds, fault], [5, 'is an AVI file, whose length is not read'])
})

test('an hour of silence has an hour, however few bytes it has', async () => {
  const frames = Math.ceil((HOUR_SECONDS * 8000) / 4096)
  const silence = Array.from({ length: frames }, (_, number) => silentFrame(number))
  const file = Buffer.concat([
    Buffer.from('fLaC\x80\0\0\x22', 'latin1'),
    Buffer.alloc(34),
    ...silence,
  ])
  assert.ok(file.length < 100_000, `${file.length} bytes`)
  assert.equal(await secondsOf(file), Math.ceil((frames * 4096) / 8000))
})

/** A frame of FLAC: 4,096 samples of silence, 8,000 to a second. */
function silentFrame(number: number): Buffer {
  // Numbers are written as characters of UTF-8.
  const head = [0xff, 0xf8, 0xc4, 0x08, ...Buffer.from(String.fromCodePoint(number))]
  let sum = 0
  for (const byte of head) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit += 1) sum = ((sum << 1) ^ (sum & 0x80 ? 7 : 0)) & 0xff
  }
  return Buffer.from([...head, sum, 0, 0, 0, 0, 0])
}

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
  ['rubbish behind it', Buffer.concat([oggPages(1, 500, 9n), Buffer.alloc(60_000)]), 10],
] as const) {
  test(`ogg: ${name}`, async () => {
    for (const pieceBytes of [7, 4096, file.length]) {
      assert.equal(await secondsOf(file, pieceBytes), seconds)
    }
  })
}

test('mp3: frames of another kind count by their own rate', async () => {
  const frame = (head: readonly number[], bytes: number) =>
    Buffer.from([...head, ...Buffer.alloc(bytes - 4)])
  const quick = Buffer.concat(Array.from({ length: 40 }, () => frame([0xff, 0xfb, 0xe0, 0], 1044)))
  const slow = Buffer.concat(Array.from({ length: 400 }, () => frame([0xff, 0xf3, 0x18, 0], 36)))
  const seconds = (40 * 1152) / 44_100 + (400 * 576) / 16_000
  assert.equal(await secondsOf(Buffer.concat([quick, slow])), Math.ceil(seconds))
})
