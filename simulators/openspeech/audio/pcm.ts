// 16-bit mono samples, and the RIFF header that the vendor repeats before every wav chunk.
import type { Syllable, Timeline } from './timeline.ts'
import { bitOf, markOf } from './words.ts'

export const PCM_UNIT_SECONDS = 0.02

export function pcmOf(timeline: Timeline, from: number, to: number, sampleRate: number): Buffer {
  const each = Math.round(timeline.unitSeconds * sampleRate)
  const samples = Buffer.alloc((to - from) * each * 2)
  for (const syllable of timeline.syllables) {
    const first = Math.max(syllable.start, from)
    const last = Math.min(syllable.end, to)
    const mark = markOf(syllable)
    for (let at = first * each; at < last * each; at += 1) {
      const since = at - syllable.start * each
      const value = Math.round(sampleAt(syllable, since, { each, sampleRate }) * 32767)
      samples.writeInt16LE((value & ~1) | bitOf(mark, since), (at - from * each) * 2)
    }
  }
  return samples
}

function sampleAt(
  syllable: Syllable,
  at: number,
  { each, sampleRate }: { each: number; sampleRate: number },
): number {
  const length = (syllable.end - syllable.start) * each
  const base = 330 * 2 ** (syllable.pitch / 12)
  const phase = (2 * Math.PI * base * at) / sampleRate
  const fade = Math.min(1, Math.min(at, length - 1 - at) / (0.01 * sampleRate))
  return 0.3 * fade * (Math.sin(phase) + 0.5 * Math.sin(2 * phase) + 0.25 * Math.sin(3 * phase))
}

export function wavHeader(dataBytes: number, sampleRate: number): Buffer {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + dataBytes, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(sampleRate, 24)
  header.writeUInt32LE(sampleRate * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(dataBytes, 40)
  return header
}
