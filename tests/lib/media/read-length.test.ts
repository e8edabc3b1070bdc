/** How long recordings are by their headers, and that no file can make us look for long. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  openWindow,
  UnseenBytes,
  WindowExhausted,
} from '../../../server/base/lib/media/open-window.ts'
import { readLength } from '../../../server/base/lib/media/read-length.ts'
import { createRandom } from '../../../testbed/random.ts'
import { flac, mp3, mp4, ogg, RATES, wav, wavHeaderOf, webm } from '../../assets/recordings.ts'
import { makeWav } from '../../support/wav.ts'

const BYTES_READ_MAX = 2 * 1024 * 1024

async function measure(file: Buffer, bytes = file.length) {
  let read = 0
  const window = openWindow(bytes, async (start, end) => {
    read += end - start + 1
    return file.subarray(start, end + 1)
  })
  const seconds = await readLength(window).catch((error: unknown) => {
    assert.ok(error instanceof WindowExhausted || error instanceof UnseenBytes, String(error))
    return undefined
  })
  assert.ok(read <= BYTES_READ_MAX, `${read} bytes were read`)
  return seconds
}

describe('the length of', () => {
  const files: readonly [string, Buffer, number][] = [
    ['a wav', wav(12), 12],
    ['a wav whose header was never completed', wav(3).fill(0xff, 40, 44), 3],
    ['a 64-bit wav', makeWav(12_000, { long: { id: 'RF64', declared: 12 * 32_000 } }), 12],
    ['a wav that is shorter than it says', wav(12).subarray(0, 44 + 8000), 1],
    ['an ogg with Opus', ogg(12), 12],
    ['an mp4', mp4(12), 12],
    ['an mp4 with its index at the end', mp4(12, true), 12],
    ['a flac', flac(12), 12],
    ['a webm', webm(12), 12],
    ['an mp3 of one rate', mp3(24, [RATES.usual]), 24],
    ['an mp3 of many rates that counts its frames', mp3(24, [RATES.low, RATES.high], true), 24],
  ]
  for (const [name, file, expected] of files) {
    test(name, async () => {
      const seconds = await measure(file)
      assert.ok(seconds !== undefined, 'known')
      assert.ok(Math.abs(seconds - expected) < 0.1, `${seconds} s`)
    })
  }

  const unknown: readonly [string, Buffer][] = [
    ['an mp3 of many rates that counts nothing', mp3(24, [RATES.low, RATES.high])],
    ['a webm that states none', webm(undefined)],
    ['a flac that states none', flac(0)],
    ['an mp4 without an index', mp4(3).subarray(0, 40)],
    ['a picture', Buffer.from('\x89PNG\r\n\x1a\n0123456789', 'latin1')],
    ['nothing', Buffer.alloc(0)],
  ]
  for (const [name, file] of unknown) {
    test(`${name} is not known`, async () => assert.equal(await measure(file), undefined))
  }

  test('a gigabyte that says it lasts a second is not believed', async () => {
    const header = flac(1)
    assert.equal(await measure(header, 1024 ** 3), undefined)
  })

  test('an mp4 whose boxes are as small and as many as can be is looked at for a bounded time', async () => {
    const box = Buffer.alloc(8)
    box.writeUInt32BE(8)
    box.write('free', 4)
    const many = Buffer.concat([mp4(1).subarray(0, 32), ...Array.from({ length: 9999 }, () => box)])
    assert.equal(await measure(many, 1024 ** 3), undefined)
  })

  test('a wav of two hours by its header alone lasts as long as what is there', async () => {
    assert.equal(await measure(wavHeaderOf(7200)), undefined)
  })

  test('10,000 broken files: none throws anything else, none is read for long', async () => {
    const random = createRandom(20_261_121)
    const sound = files.map(([, file]) => file)
    for (let round = 0; round < 10_000; round += 1) {
      const file = Buffer.from(sound[round % sound.length] ?? Buffer.alloc(0)).subarray(0, 4096)
      for (let changes = random.integer(1, 8); changes > 0; changes -= 1) {
        const at = random.integer(4, Math.min(file.length, 300) - 1)
        file[at] = random.integer(0, 255)
      }
      const bytes = random.integer(0, 3) === 0 ? random.integer(1, 2 ** 31) : file.length
      const seconds = await measure(file, bytes)
      assert.ok(seconds === undefined || seconds > 0, `round ${round}: ${seconds}`)
    }
  })
})
