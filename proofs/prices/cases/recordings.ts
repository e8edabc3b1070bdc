/**
 * Recordings whose lengths are known without reading them: ffmpeg's, in the containers that it
 * writes, with the seconds that it decodes, and PCM that is written here.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import type { Random } from '../../../testbed/random.ts'
import { makeWav, wavChunk } from '../../../tests/support/wav.ts'

export interface Recording {
  readonly name: string
  readonly seconds: number
  readonly content: Buffer
}

interface Stored extends Omit<Recording, 'content'> {
  /** Deflated, in base64. */
  readonly content: string
}

const FILE = ['..', '..', '..', 'tests', 'lib', 'media', 'fixtures', 'recordings.json']
const stored: readonly Stored[] = JSON.parse(
  readFileSync(join(import.meta.dirname, ...FILE), 'utf8'),
)

const CONTAINERS: readonly Recording[] = stored.map(({ name, seconds, content }) => ({
  name,
  seconds,
  content: inflateSync(Buffer.from(content, 'base64')),
}))

const PCM_SHARE = 0.4
const RATES: readonly [number, ...number[]] = [8_000, 11_025, 16_000, 44_100]

export function drawRecording(random: Random): Recording {
  const [first, ...rest] = CONTAINERS
  if (!first) throw new Error('no recordings')
  return random.next() < PCM_SHARE ? drawPcm(random) : random.pick([first, ...rest])
}

/** PCM of any length, with whatever stands before its format and behind its samples. */
function drawPcm(random: Random): Recording {
  const rate = random.pick(RATES)
  const bits = random.pick([8, 16])
  const channels = random.pick([1, 2])
  const frames = random.integer(1, 20 * rate)
  const note = () => wavChunk('LIST', Buffer.alloc(random.integer(0, 9_000), 'x'))
  const [before, between, after] = [0.5, 0.5, 0.5].map((share) => random.next() < share)
  const content = makeWav(Buffer.alloc((frames * channels * bits) / 8), {
    rate,
    bits,
    channels,
    ...(before ? { first: note() } : {}),
    ...(between ? { middle: note() } : {}),
    ...(after ? { last: note() } : {}),
  })
  return { name: 'pcm.wav', seconds: frames / rate, content }
}
