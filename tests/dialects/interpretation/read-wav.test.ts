/** WAV files of every kind, whole and in pieces of every size. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { createWavReader } from '../../../server/wire/dialects/interpretation/read-wav.ts'
import { makeSamples, makeWav, type WavOptions, wavChunk } from '../../support/wav.ts'

function read(file: Buffer, pieceBytes = file.length || 1, secondsMax = 3600) {
  const reader = createWavReader('file', secondsMax)
  for (let at = 0; at < file.length; at += pieceBytes) {
    reader.push(file.subarray(at, at + pieceBytes))
  }
  return reader.end()
}

const SAMPLES = makeSamples(20)
const samplesOf = (file: Buffer) => {
  const { start, bytes } = read(file)
  return file.subarray(start, start + bytes)
}

describe('what is taken', () => {
  const list = wavChunk('LIST', Buffer.from('INFOISFT\u0004\0\0\0x'))
  const kinds: readonly (readonly [string, WavOptions])[] = [
    ['a plain file', {}],
    ['the extensible form', { extensible: { tag: 1, validBits: 16 } }],
    ['the extensible form without valid bits', { extensible: { tag: 1, validBits: 0 } }],
    ['chunks before the format', { first: wavChunk('JUNK', Buffer.alloc(28)) }],
    ['chunks of an odd length', { middle: wavChunk('odd ', Buffer.alloc(7)) }],
    ['an empty chunk', { middle: wavChunk('none', Buffer.alloc(0)) }],
    ['a large chunk', { middle: wavChunk('id3 ', Buffer.alloc(200_001)) }],
    ['chunks after the samples', { last: list }],
    ['a 64-bit file', { long: { id: 'RF64', declared: SAMPLES.length }, last: list }],
    ['its newer form', { long: { id: 'BW64', declared: SAMPLES.length }, last: list }],
    ['a 64-bit file that states no length', { long: { id: 'RF64', declared: 0 } }],
    ['a 64-bit file of an endless length', { long: { id: 'RF64', declared: 2n ** 64n - 1n } }],
    [
      'a 64-bit file whose data has a length',
      { long: { id: 'RF64', declared: 7 }, declared: SAMPLES.length, last: list },
    ],
  ]
  for (const [title, options] of kinds) {
    test(title, () => assert.ok(samplesOf(makeWav(SAMPLES, options)).equals(SAMPLES)))
  }

  for (const declared of [0, 0x7fff_f000, 0xffff_ffff]) {
    test(`a stream whose length says ${declared}: all that follows`, () => {
      assert.ok(samplesOf(makeWav(SAMPLES, { declared })).equals(SAMPLES))
    })
  }

  test('half a sample at the end is left out', () => {
    const file = makeWav(Buffer.alloc(101), { declared: 0xffff_ffff }).subarray(0, 44 + 101)
    assert.deepEqual(read(file), { start: 44, bytes: 100 })
  })

  test('a file that is cut off, as far as it goes', () => {
    const file = makeWav(SAMPLES, { last: list })
    const long = makeWav(SAMPLES, { long: { id: 'RF64', declared: SAMPLES.length }, last: list })
    for (const [whole, start] of [
      [file, 44],
      [long, 80],
    ] as const) {
      fc.assert(
        fc.property(fc.integer({ min: start + 2, max: whole.length }), (end) => {
          const there = Math.min(end - start, SAMPLES.length)
          const bytes = there - (there % 2)
          assert.deepEqual(read(whole.subarray(0, end)), { start, bytes })
        }),
      )
    }
  })

  test('the same, however it is cut into pieces', () => {
    const file = makeWav(SAMPLES, { first: list, middle: list, last: list })
    const whole = read(file)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), (pieceBytes) => {
        assert.deepEqual(read(file, pieceBytes), whole)
      }),
    )
  })
})

describe('what is refused, and why', () => {
  const needs = 'file: needs wav audio of 16 kHz, mono, 16-bit PCM; found '
  const plain = makeWav(SAMPLES)
  const kinds: readonly (readonly [string, Buffer])[] = [
    ['8 kHz, mono, 16-bit PCM', makeWav(SAMPLES, { rate: 8_000 })],
    ['44.1 kHz, stereo, 16-bit PCM', makeWav(SAMPLES, { rate: 44_100, channels: 2 })],
    ['16 kHz, 6 channels, 16-bit PCM', makeWav(SAMPLES, { channels: 6 })],
    ['16 kHz, mono, 8-bit PCM', makeWav(SAMPLES, { bits: 8 })],
    ['16 kHz, mono, 32-bit float', makeWav(SAMPLES, { bits: 32, tag: 3 })],
    ['16 kHz, mono, 8-bit A-law', makeWav(SAMPLES, { bits: 8, tag: 6 })],
    ['16 kHz, mono, 16-bit codec 0x1234', makeWav(SAMPLES, { tag: 0x1234 })],
    ['16 kHz, mono, 16-bit float', makeWav(SAMPLES, { extensible: { tag: 3, validBits: 16 } })],
    ['16 kHz, mono, 12-bit PCM', makeWav(SAMPLES, { extensible: { tag: 1, validBits: 12 } })],
    ['an empty file', Buffer.alloc(0)],
    ['no wav file', Buffer.from('hello, this is a text')],
    ['no wav file', Buffer.from('RI')],
    ['an MP3 file', Buffer.from('ID3\u0004aaaaaaaaaaaa')],
    ['an Ogg file', Buffer.from('OggS\0\0\0\0aaaaaaaaaaaa')],
    ['an MP4 file', Buffer.from('\0\0\0 ftypM4A aaaaaaaaaa')],
    ['a wav file that ends before its audio', Buffer.from('RF64aaaaWAVEaaaa')],
    ['a wav file that ends before its audio', plain.subarray(0, 12)],
    ['a wav file that ends before its audio', plain.subarray(0, 30)],
    ['a wav file that ends before its audio', plain.subarray(0, 40)],
    [
      'a wav file without a format before its data',
      wavChunk('RIFF', Buffer.concat([Buffer.from('WAVE'), wavChunk('data', SAMPLES)])),
    ],
    [
      'a wav file with a damaged format chunk',
      wavChunk('RIFF', Buffer.concat([Buffer.from('WAVE'), wavChunk('fmt ', Buffer.alloc(14))])),
    ],
  ]
  for (const [found, file] of kinds) {
    test(`${found} (${file.length} bytes)`, () => {
      assert.throws(() => read(file), { name: 'InvalidRequest', message: needs + found })
      assert.throws(() => read(file, 1), { message: needs + found })
    })
  }

  test('audio that is not there', () => {
    assert.throws(() => read(makeWav(Buffer.alloc(0))), { message: 'file: has no audio in it' })
    assert.throws(() => read(makeWav(SAMPLES).subarray(0, 45)), { message: /no audio in it/ })
  })

  test('audio that is too long: by its header at once, or by its bytes', () => {
    const reader = createWavReader('file', 10)
    const head = makeWav(SAMPLES, { declared: 330_000 })
    assert.throws(() => reader.push(head), { message: 'file: is 11 s long, more than 10 s' })
    const stream = makeWav(Buffer.alloc(330_000), { declared: 0 })
    assert.throws(() => read(stream, 5_000, 10), { message: /is 11 s long/ })
  })

  test('another format is refused before its audio has come', () => {
    const reader = createWavReader('file', 3600)
    assert.throws(() => reader.push(makeWav(SAMPLES, { channels: 2 }).subarray(0, 36)), /stereo/)
  })
})
