/** The length of recordings is what a decoder makes of them, whatever their headers say. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRandom } from '../../../../testbed/random.ts'
import { makeWav, wavChunk } from '../../../support/wav.ts'
import { measure, RECORDINGS, recording } from './support.ts'

async function near(file: Buffer, seconds: number, toleranceSeconds = 0.002): Promise<void> {
  const measured = await measure(file)
  const off = Math.abs((measured.seconds ?? Number.NaN) - seconds)
  assert.ok(off <= toleranceSeconds, `${measured.seconds} s (${measured.fault}), not ${seconds} s`)
}

/** Returns the file with other bytes at an offset from a mark. */
function edit(file: Buffer, mark: string, offset: number, bytes: readonly number[]): Buffer {
  const at = file.indexOf(mark, 0, 'latin1')
  assert.ok(at >= 0, mark)
  const edited = Buffer.from(file)
  edited.set(bytes, at + offset)
  return edited
}

/** Returns an MP4 file with more content at an offset within these boxes. */
function insert(file: Buffer, boxes: readonly string[], at: number, content: Buffer): Buffer {
  const inserted = Buffer.concat([file.subarray(0, at), content, file.subarray(at)])
  for (const name of boxes) {
    const box = inserted.indexOf(name) - 4
    inserted.writeUInt32BE(inserted.readUInt32BE(box) + content.length, box)
  }
  return inserted
}

/** Returns an MP4 file whose sound is played so many times. */
function playTimes(file: Buffer, times: number): Buffer {
  const at = file.indexOf('elst') + 4
  const entries = Buffer.concat(Array(times - 1).fill(file.subarray(at + 8, at + 20)))
  const played = insert(file, ['moov', 'trak', 'edts', 'elst'], at + 20, entries)
  played.writeUInt32BE(times, at + 4)
  return played
}

const long = (value: number): number[] => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return [...bytes]
}
const longLittle = (value: number): number[] => long(value).reverse()

function tag(content: Buffer): Buffer {
  const size = [21, 14, 7, 0].map((shift) => (content.length >> shift) & 0x7f)
  return Buffer.concat([Buffer.from('ID3\x04\0\0', 'latin1'), Buffer.from(size), content])
}

const AAC = Buffer.from('A_AAC')
const random = createRandom(20_261_124)
const noise = (bytes: number) =>
  Buffer.from(Array.from({ length: bytes }, () => random.integer(0, 255)))

describe('as ffmpeg decodes it:', () => {
  for (const { name, file, seconds } of RECORDINGS) {
    test(name, async () => {
      await near(file, seconds)
      const whole = await measure(file)
      for (const pieceBytes of [1, 61, 1000]) {
        assert.equal((await measure(file, pieceBytes)).seconds, whole.seconds, `${pieceBytes}`)
      }
    })
  }

  test('AMR, narrow and wide, with silence and lost frames', async () => {
    const narrow = [0x3c, 0x04, 0x44, 0x7c].map((head, index) => {
      return Buffer.concat([Buffer.of(head), Buffer.alloc([31, 12, 5, 0][index] ?? 0, 0xff)])
    })
    await near(Buffer.concat([Buffer.from('#!AMR\n'), ...narrow, ...narrow]), 0.16)
    const wide = Buffer.concat([Buffer.of(0x44), Buffer.alloc(60)])
    await near(Buffer.concat([Buffer.from('#!AMR-WB\n'), wide, wide, wide]), 0.06)
  })

  test('one recording behind another', async () => {
    for (const [name, seconds] of [
      ['opus.ogg', 2.62],
      ['vorbis.ogg', 2.62],
      ['adts.aac', 2.816],
      ['bare.mp3', 2.808],
      ['plain.flac', 2.62],
    ] as const) {
      await near(Buffer.concat([recording(name), recording(name)]), seconds)
    }
  })
})

describe('whatever stands around the sound:', () => {
  const mp3 = recording('bare.mp3')
  for (const [name, file, seconds] of [
    ['rubbish before an mp3', Buffer.concat([noise(20_000), mp3]), 1.404],
    ['200 kB of text before an mp3', Buffer.concat([Buffer.alloc(200_000, 'abc '), mp3]), 1.404],
    ['rubbish in the middle of an mp3', Buffer.concat([mp3, noise(50_000), mp3]), 2.808],
    ['tags behind an mp3', Buffer.concat([mp3, Buffer.from('APETAGEX'), noise(9_000)]), 1.404],
    ['a tag of a megabyte before an mp3', Buffer.concat([tag(Buffer.alloc(1e6)), mp3]), 1.404],
    ['frames in a tag', Buffer.concat([tag(Buffer.concat([mp3, mp3])), tag(mp3), mp3]), 1.404],
    ['rubbish before AAC', Buffer.concat([noise(20_000), recording('adts.aac')]), 1.408],
    ['a tag before FLAC', Buffer.concat([tag(noise(4_000)), recording('plain.flac')]), 1.31],
    ['rubbish behind FLAC', Buffer.concat([recording('plain.flac'), noise(90_000)]), 1.31],
    ['a tag before a wav', Buffer.concat([tag(Buffer.alloc(77)), recording('mulaw.wav')]), 1.31],
    ['rubbish behind a wav', Buffer.concat([recording('mulaw.wav'), noise(9_000)]), 1.31],
  ] as const) {
    test(name, () => near(file, seconds))
  }

  test('5 kB before the format of a wav', async () => {
    const list = wavChunk('LIST', Buffer.alloc(5_001))
    await near(makeWav(Buffer.alloc(32_000), { first: list, middle: list, last: list }), 1)
  })
})

describe('the samples of a wav:', () => {
  test('of two channels, once', () => near(makeWav(Buffer.alloc(64_000), { channels: 2 }), 1))

  test('of compressed blocks, of which the last is cut off', async () => {
    const options = { tag: 0x11, bits: 4, rate: 100 }
    const blocks = Buffer.alloc(256 + 132)
    // 505 samples in a block of 256 bytes, 257 in 132 bytes of one.
    await near(edit(makeWav(blocks, options), 'fmt ', 20, [0, 1]), 7.62)
  })
})

describe('a header that lies changes nothing:', () => {
  const lies: readonly (readonly [string, string, string, number, readonly number[]])[] = [
    ['the rate of bytes of a wav', 'mulaw.wav', 'fmt ', 16, longLittle(1)],
    ['a high rate of bytes', 'mulaw.wav', 'fmt ', 16, longLittle(4e9)],
    ['the size of blocks of a wav', 'mulaw.wav', 'fmt ', 20, [200, 0]],
    ['no size of the samples', 'mulaw.wav', 'data', 4, longLittle(0)],
    ['an unknown size of the samples', 'mulaw.wav', 'data', 4, longLittle(0xffff_ffff)],
    ['the number of samples of FLAC', 'plain.flac', 'fLaC', 22, long(1)],
    ['a high number of samples of FLAC', 'plain.flac', 'fLaC', 22, long(0xffff_ffff)],
    ['the number of frames of an AIFF', 'mulaw.aifc', 'COMM', 10, long(1)],
    ['the length of a movie', 'aac.m4a', 'mvhd', 20, long(1)],
    ['the length of a track', 'aac.m4a', 'mdhd', 20, long(0x7fff_0000)],
    ['the length of a WebM', 'opus.webm', '\x44\x89\x88', 3, [0x40, 0x8f, 0x40, 0, 0, 0, 0, 0]],
    ['the scale of times of a WebM', 'opus.webm', '\x2a\xd7\xb1', 4, [0, 0, 1]],
    ['the rate of a WebM with Opus', 'opus.webm', '\xb5\x88', 2, [0x40, 0xbf, 0x40, 0, 0, 0, 0, 0]],
    ['the delay of a codec of a WebM', 'opus.webm', '\x56\xaa', 3, [0x7f]],
  ]
  for (const [name, base, mark, offset, bytes] of lies) {
    test(name, async () => {
      const { seconds } = await measure(recording(base))
      await near(edit(recording(base), mark, offset, bytes), seconds ?? 0)
    })
  }

  test('the positions of an Ogg, but for the end of its last packet', async () => {
    for (const [name, lastPacketSeconds] of [
      ['opus.ogg', 0.02],
      ['vorbis.ogg', 0.064],
    ] as const) {
      for (const position of [1n, 0n, -1n, 1n << 60n]) {
        const file = recording(name)
        for (let at = file.indexOf('OggS', 60); at !== -1; at = file.indexOf('OggS', at + 1)) {
          file.writeBigInt64LE(position, at + 6)
        }
        await near(file, 1.31, lastPacketSeconds)
      }
    }
  })

  test('lengths of packets in the index of an MP4 that is played whole', async () => {
    const whole = edit(recording('aac.m4a'), 'edts', 0, [0x66, 0x72, 0x65, 0x65])
    for (const ticks of [1, 1_000_000]) {
      await near(edit(whole, 'stts', 16, long(ticks)), 1.408, 0.065)
    }
  })

  test('a part of an MP4 that is played more than once counts as often', async () => {
    const file = recording('aac.m4a')
    const { seconds = 0 } = await measure(file)
    const twice = playTimes(file, 2)
    await near(twice, 2 * seconds)
  })

  test('as many packets as its index says, of which few are there', async () => {
    await near(edit(recording('aac.m4a'), 'stsz', 12, long(1)), 0, 0.065)
    await near(recording('index-first.m4a').subarray(0, 2_500), 0.64, 0.3)
    // A packet that is cut off is not played.
    const { seconds = 0 } = await measure(recording('index-first.m4a').subarray(0, -1))
    assert.ok(seconds < 1.29, `${seconds} s`)
  })

  test('WebM whose tracks stand behind the sound', async () => {
    const file = recording('live.webm')
    const at = file.lastIndexOf(Buffer.from('1654ae6b', 'hex'))
    const cluster = file.indexOf(Buffer.from('1f43b675', 'hex'))
    const moved = [file.subarray(0, at), file.subarray(cluster), file.subarray(at, cluster)]
    await near(Buffer.concat(moved), 1.31)
  })

  test('WebM whose block says that it is longer than its cluster', async () => {
    const webm = recording('opus.webm')
    const cluster = webm.indexOf(Buffer.from('1f43b675', 'hex'))
    // A cluster of 16 bytes with a block that would reach behind the one that follows.
    const lying = Buffer.from('1f43b67590a308000100800000000000000000000000', 'hex')
    const [head, sound] = [webm.subarray(0, cluster), webm.subarray(cluster)]
    await near(Buffer.concat([head, lying, sound]), 1.31)
  })
})

describe('no length, and the reason:', () => {
  for (const [name, file, reason] of [
    ['an AVI file', Buffer.from(`RIFF0000AVI ${'0'.repeat(300)}`), /is an AVI file/],
    [
      'a movie without sound',
      edit(recording('aac.m4a'), 'soun', 0, [...Buffer.from('vide')]),
      /no sound/,
    ],
    [
      'an unknown codec',
      edit(recording('aac.m4a'), 'mp4a', 0, [...Buffer.from('enca')]),
      /codec.*enca/,
    ],
    [
      'an unknown codec of WebM',
      edit(recording('opus.webm'), 'A_OPUS', 0, [...Buffer.from('A_DTS\0')]),
      /codec.*A_DTS/,
    ],
    ['a wav of an unknown codec', edit(recording('mulaw.wav'), 'fmt ', 8, [0x61, 1]), /codec/],
    ['a wav with two formats', makeWav(9, { middle: makeWav(0).subarray(12, 36) }), /two formats/],
    ['a wav with no channels', edit(recording('mulaw.wav'), 'fmt ', 10, [0, 0]), /codec|wav/],
    ['an AIFF of no rate', edit(recording('mulaw.aifc'), 'COMM', 16, [0, 0]), /damaged/],
  ] as const) {
    test(name, async () => {
      const { seconds, fault = '' } = await measure(file)
      assert.equal(seconds, undefined)
      assert.match(fault, reason)
    })
  }

  test('what is no recording has neither', async () => {
    for (const file of [Buffer.alloc(0), Buffer.from('hello'), Buffer.alloc(70_000), noise(40)]) {
      const { seconds, fault } = await measure(file)
      assert.deepEqual([seconds, fault], [undefined, undefined])
    }
  })
})

describe('a hostile file', () => {
  test('of endless tables ends, as too many parts', async () => {
    const even = edit(recording('aac.m4a'), 'stsz', 8, [...long(1), ...long(0xffff_ffff)])
    const wide = edit(edit(even, 'stsc', 16, long(0xffff_ffff)), 'stco', 8, long(0))
    assert.match((await measure(wide)).fault ?? '', /too many parts|^$/)
    const empty = edit(recording('aac.m4a'), 'stsc', 16, long(0))
    assert.equal((await measure(edit(empty, 'stco', 8, long(0xffff_ffff)))).seconds, 0)
    const run = edit(recording('fragments.mp4'), 'trun', 4, [0, 0, 0, 0, ...long(0xffff_ffff)])
    assert.match((await measure(run)).fault ?? '', /too many parts|^$/)
  })

  test('of an index that is gone through again and again ends, as too many parts', async () => {
    const file = recording('aac.m4a')
    const fill = (content: Buffer) => {
      const parents = ['moov', 'trak', 'mdia', 'minf', 'stbl']
      return insert(file, parents, file.indexOf('stbl') + 4, content)
    }
    const box = Buffer.from('\0\0\0\bfree')
    const large = Buffer.concat([Buffer.from(long(100_000)), Buffer.alloc(99_996, 'free')])
    const wide = edit(recording('mp3.mp4'), 'stsz', 8, [...long(200_000), ...long(50)])
    for (const hostile of [
      fill(Buffer.concat(Array(600).fill(box))),
      playTimes(fill(large), 1_000),
      playTimes(Buffer.concat([wide, Buffer.alloc(400_000)]), 1_000),
    ]) {
      assert.match((await measure(hostile)).fault ?? '', /too many/)
    }
  })

  test('of an index with 100,000 boxes lets others run', async () => {
    const boxes = Buffer.concat(Array(100_000).fill(Buffer.from('\0\0\0\bfree')))
    const extension = Buffer.concat([
      Buffer.from(long(boxes.length + 8)),
      Buffer.from('mvex'),
      boxes,
    ])
    const file = recording('aac.m4a')
    const wide = insert(file, ['moov'], file.indexOf('moov') + 4, extension)
    let turns = 0
    let isDone = false
    const count = () => {
      turns += 1
      if (!isDone) setImmediate(count)
    }
    count()
    await measure(wide)
    isDone = true
    assert.ok(turns > 20, `${turns} turns`)
  })

  test('of sound before tracks that have none is read once', async () => {
    const block = Buffer.from('a38581000000ff', 'hex')
    const tracks = Buffer.from('1654ae6b88ae86d78101838101', 'hex')
    const head = Buffer.from('1a45dfa3801853806701ffffffffffffff', 'hex')
    assert.match((await measure(Buffer.concat([head, block, tracks]))).fault ?? '', /no sound/)
  })

  test('whose packets all begin with the same 300 bytes is refused', async () => {
    const element = (id: string, content: Buffer) => {
      const size = Buffer.from([0x40 | (content.length >> 8), content.length & 0xff])
      return Buffer.concat([Buffer.from(id, 'hex'), size, content])
    }
    for (const [bytes, reason] of [
      [200, /^$/],
      [300, /too much/],
    ] as const) {
      const left = [element('4254', Buffer.of(3)), element('4255', Buffer.alloc(bytes))]
      const how = element('6d80', element('6240', element('5034', Buffer.concat(left))))
      const what = Buffer.concat([Buffer.from('d78101838102', 'hex'), element('86', AAC), how])
      const head = Buffer.from('1a45dfa380', 'hex')
      const file = Buffer.concat([head, element('1654ae6b', element('ae', what))])
      assert.match((await measure(file)).fault ?? '', reason)
    }
  })

  test('1,500 broken files: none throws, none is read more than three times', async () => {
    for (let round = 0; round < 1_500; round += 1) {
      const { file, name } = RECORDINGS[round % RECORDINGS.length] ?? { file: Buffer.alloc(0) }
      const broken = Buffer.from(file)
      for (let changes = random.integer(1, 12); changes > 0; changes -= 1) {
        broken[random.integer(0, broken.length - 1)] = random.integer(0, 255)
      }
      const { seconds = 0, bytesRead } = await measure(broken, 4096)
      assert.ok(Number.isFinite(seconds) && seconds >= 0, `${name}: ${seconds}`)
      assert.ok(bytesRead <= 3 * (broken.length + 4096), `${name}: ${bytesRead} bytes`)
    }
  })
})
