/** Readers of the same header for a stored file, a beginning and a stream: they say the same. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { openWindow } from '../../../server/base/lib/media/open-window.ts'
import { readLength } from '../../../server/base/lib/media/read-length.ts'
import { readVideoFacts } from '../../../server/base/lib/media/read-mp4.ts'
import { readWavSeconds } from '../../../server/base/lib/media/read-wav.ts'
import { createStreamReader, readHead } from '../../../server/base/lib/media/reader.ts'
import { sniffType } from '../../../server/base/lib/media/sniff-type.ts'
import {
  createAudioMeter,
  nameRecording,
} from '../../../server/wire/dialects/transcription/measure-audio.ts'
import { mp3, mp4, RATES, wav } from '../../assets/recordings.ts'
import { makeWav, wavChunk } from '../../support/wav.ts'

const lengthOf = (file: Buffer) =>
  readLength(openWindow(file.length, async (start, end) => file.subarray(start, end + 1)))

async function measure(file: Buffer) {
  const meter = createAudioMeter()
  meter.push(file)
  return meter.end(async (start, end) => file.subarray(start, end + 1))
}

describe('a wav', () => {
  test('of compressed sound states no length, whatever its rates say', async () => {
    const file = makeWav(Buffer.alloc(30_000), { tag: 0x45, bits: 4 })
    assert.equal(await lengthOf(file), undefined)
    assert.match((await measure(file)).fault ?? '', /codec that is not read/)
  })

  test('with two formats states no length', async () => {
    const quick = makeWav(Buffer.alloc(0), { rate: 48_000, channels: 2 }).subarray(12, 36)
    const file = makeWav(Buffer.alloc(32_000), { middle: quick })
    assert.equal(await lengthOf(file), undefined)
  })

  test('with its format behind its samples states no length', async () => {
    const format = makeWav(Buffer.alloc(0)).subarray(12, 36)
    const samples = wavChunk('data', Buffer.alloc(32_000))
    const file = wavChunk('RIFF', Buffer.concat([Buffer.from('WAVE'), samples, format]))
    assert.equal(await lengthOf(file), undefined)
    assert.match((await measure(file)).fault ?? '', /without a format before its data/)
  })

  test('is read alike whole and in pieces of every size', () => {
    const file = makeWav(Buffer.alloc(2_000), { first: wavChunk('LIST', Buffer.alloc(77)) })
    const whole = readHead(file, readWavSeconds(file.length))
    assert.equal(whole, 2_000 / 32_000)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), (pieceBytes) => {
        const reader = createStreamReader(readWavSeconds(file.length))
        for (let at = 0; at < file.length; at += pieceBytes) {
          reader.push(file.subarray(at, at + pieceBytes))
        }
        assert.equal(reader.end(), whole)
      }),
    )
  })
})

describe('an mp4', () => {
  test('in fragments states no length, which is not 49 days', async () => {
    const file = mp4(12)
    const header = file.indexOf('mvhd') + 4
    file.writeUInt32BE(0xffff_ffff, header + 16)
    assert.equal(await lengthOf(file), undefined)
    assert.deepEqual(readVideoFacts(file), { width: 64, height: 64 })
  })

  test('that is stored and one whose beginning is there last as long', async () => {
    const file = mp4(12)
    assert.equal(readVideoFacts(file.subarray(0, 2_000)).seconds, await lengthOf(file))
  })
})

test('an mp3 whose tag has a footer: both pass over all of it', async () => {
  const sound = mp3(24, [RATES.usual]).subarray(20)
  const tag = Buffer.from('ID3\x04\0\x10\0\0\0\x20', 'latin1')
  const lookalike = Buffer.from('\xff\xf3\x18\0\0\0\0\0\0\0', 'latin1')
  const file = Buffer.concat([tag, Buffer.alloc(32), lookalike, sound])
  const seconds = await lengthOf(file)
  assert.ok(seconds !== undefined && Math.abs(seconds - 24) < 0.1, `${seconds} s`)
  assert.equal((await measure(file)).seconds, 24)
})

test('every name of a recording comes from the type that uploads are stored with', () => {
  for (const file of [wav(1), mp3(1, [RATES.usual]), mp4(1)]) {
    const [, ending = ''] = nameRecording(file)?.split('.') ?? []
    assert.ok(['wav', 'mp3', 'mp4'].includes(ending), sniffType(file))
  }
})
