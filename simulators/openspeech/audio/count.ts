// Counts the syllables in audio, so that a test can check that all of a text was spoken.

const WINDOW_SECONDS = 0.005
const SILENCE_SECONDS = 0.025

/** Counts the tones, separated by silence, in 16-bit mono little-endian samples. */
export function countSyllables(pcm: Buffer, sampleRate: number): number {
  const levels = levelsOf(pcm, Math.round(sampleRate * WINDOW_SECONDS))
  const threshold = Math.max(200, 0.1 * Math.max(0, ...levels))
  const quiet = Math.round(SILENCE_SECONDS / WINDOW_SECONDS)
  let count = 0
  let silence = quiet
  for (const level of levels) {
    if (level < threshold) silence += 1
    else {
      if (silence >= quiet) count += 1
      silence = 0
    }
  }
  return count
}

function levelsOf(pcm: Buffer, window: number): number[] {
  const levels: number[] = []
  const samples = Math.floor(pcm.length / 2)
  for (let at = 0; at + window <= samples; at += window) {
    let sum = 0
    for (let index = at; index < at + window; index += 1) sum += pcm.readInt16LE(index * 2) ** 2
    levels.push(Math.sqrt(sum / window))
  }
  return levels
}

interface Mp3Frame {
  bytes: number
  sampleRate: number
  /** For each granule: true if it contains sound. */
  sounding: boolean[]
}

/** Returns the frames of a Layer III stream in mono. Throws for a malformed stream. */
export function mp3Frames(mp3: Buffer): Mp3Frame[] {
  const frames: Mp3Frame[] = []
  for (let at = 0; at < mp3.length; ) {
    const frame = frameAt(mp3, at)
    frames.push(frame)
    at += frame.bytes
    if (at > mp3.length) throw new Error('the last MP3 frame is cut short')
  }
  return frames
}

export function countMp3Syllables(mp3: Buffer): number {
  const granules = mp3Frames(mp3).flatMap((frame) => frame.sounding)
  return granules.filter((sounds, index) => sounds && !granules[index - 1]).length
}

export const mp3SamplesInFrame = (sampleRate: number) => (sampleRate >= 32000 ? 1152 : 576)

const RATES = [11025, 12000, 8000]
const BIT_RATES_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const BIT_RATES_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]

function frameAt(mp3: Buffer, at: number): Mp3Frame {
  const head = mp3.readUInt32BE(at)
  if (head >>> 21 !== 0x7ff) throw new Error(`no MP3 frame at byte ${at}`)
  const version = (head >>> 19) & 3
  const one = version === 3
  const factor = one ? 4 : version === 2 ? 2 : 1
  const sampleRate = (RATES[(head >>> 10) & 3] ?? 0) * factor
  const kilobits = (one ? BIT_RATES_1 : BIT_RATES_2)[(head >>> 12) & 15] ?? 0
  const bytes = Math.floor(((one ? 144 : 72) * kilobits * 1000) / sampleRate) + ((head >>> 9) & 1)
  const starts = one ? [18, 18 + 59] : [9]
  const sounding = starts.map((bit) => bitsAt(mp3, (at + 4) * 8 + bit, 12) > 0)
  return { bytes, sampleRate, sounding }
}

function bitsAt(bytes: Buffer, start: number, width: number): number {
  let value = 0
  for (let bit = start; bit < start + width; bit += 1) {
    value = (value << 1) | (((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1)
  }
  return value
}
