/**
 * Recordings of other lengths, cut, joined and buried in rubbish: as long as ffmpeg, which is asked
 * each time, decodes them. Skipped where it is not installed.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import { type MadeRecording, measure, RECORDINGS } from './support.ts'

const isInstalled = spawnSync('ffmpeg', ['-version']).status === 0
const options = isInstalled ? {} : { skip: 'ffmpeg is not installed' }
const folder = mkdtempSync(join(tmpdir(), 'recordings-'))
after(() => rmSync(folder, { recursive: true }))

/** Counterexamples are shown: they name a file rather than hold it. */
const NAMES = RECORDINGS.map(({ name }) => name)

function find(name: string): MadeRecording {
  const made = RECORDINGS.find((one) => one.name === name)
  assert.ok(made)
  return made
}

const BYTES_PER_SECOND = 32_000
/** Two packets of the longest kind: a decoder may lose one at each break. */
const TOLERANCE_SECONDS = 0.15

function decode(name: string, file: Buffer): number {
  const path = join(folder, name)
  writeFileSync(path, file)
  const form = ['-map', '0:a:0', '-f', 's16le', '-ac', '1', '-ar', '16000', '-']
  const { stdout } = spawnSync('ffmpeg', ['-v', 'quiet', '-i', path, ...form])
  return stdout.length / BYTES_PER_SECOND
}

/** Encoders are not the same everywhere: undefined for one that is not there. */
function make({ name, rate, options: chosen }: MadeRecording, seconds: number): Buffer | undefined {
  const path = join(folder, `made-${name}`)
  const source = ['-f', 'lavfi', '-i', `sine=440:r=${rate}:d=${seconds}`]
  try {
    execFileSync('ffmpeg', ['-v', 'quiet', '-y', ...source, ...chosen, path])
    return readFileSync(path)
  } catch {
    return undefined
  }
}

/** Formats that ffmpeg finds again behind other content. */
const RESYNCS = /\.(?:mp3|aac)$/

const changes = fc.oneof(
  fc.record({
    kind: fc.constant('cut' as const),
    share: fc.double({ min: 0.3, max: 0.99, noNaN: true }),
  }),
  fc.record({ kind: fc.constant('joined' as const) }),
  fc.record({ kind: fc.constant('buried' as const), bytes: fc.integer({ min: 1, max: 60_000 }) }),
)

describe('against ffmpeg', options, () => {
  test('new recordings of any length, to the packet', () => {
    const lengths = fc.record({
      name: fc.constantFrom(...NAMES),
      milliseconds: fc.integer({ min: 300, max: 9_000 }),
    })
    return fc.assert(
      fc.asyncProperty(lengths, async ({ name, milliseconds }) => {
        const made = find(name)
        const file = make(made, milliseconds / 1000)
        if (!file) return
        const decoded = decode(name, file)
        const { seconds = 0 } = await measure(file)
        assert.ok(Math.abs(seconds - decoded) < TOLERANCE_SECONDS, `${seconds} s, not ${decoded}`)
      }),
      { numRuns: 10 },
    )
  })

  test('broken recordings are never measured shorter', () => {
    const cases = fc.record({ name: fc.constantFrom(...NAMES), change: changes })
    return fc.assert(
      fc.asyncProperty(cases, async ({ name, change }) => {
        if (change.kind !== 'cut' && !RESYNCS.test(name)) return
        const file = alter(find(name).file, change)
        const decoded = decode(name, file)
        const { seconds = 0 } = await measure(file)
        assert.ok(seconds > decoded - TOLERANCE_SECONDS, `${seconds} s, not ${decoded} s`)
        assert.ok(decoded === 0 || seconds < decoded + TOLERANCE_SECONDS, `${seconds}, ${decoded}`)
      }),
      { numRuns: 15 },
    )
  })
})

type Change =
  | { readonly kind: 'cut'; readonly share: number }
  | { readonly kind: 'joined' }
  | { readonly kind: 'buried'; readonly bytes: number }

function alter(file: Buffer, change: Change): Buffer {
  if (change.kind === 'cut') return file.subarray(0, Math.floor(file.length * change.share))
  if (change.kind === 'joined') return Buffer.concat([file, file])
  return Buffer.concat([Buffer.alloc(change.bytes, 'rubbish '), file])
}
