/**
 * Reads the length of a recording from the header of its container. Implausible lengths are
 * rejected; a file that states none, or is not a recording, has no length here.
 */

import type { Window } from './open-window.ts'
import { readMatroska } from './read-matroska.ts'
import { readMp3 } from './read-mp3.ts'
import { readMp4Seconds } from './read-mp4.ts'
import { readOgg } from './read-ogg.ts'
import { readWavSeconds } from './read-wav.ts'
import { readWindow } from './reader.ts'
import { SNIFFED_BYTES, sniffType } from './sniff-type.ts'

const STREAM_INFO_AT = 4
const RATE_AT = STREAM_INFO_AT + 4 + 10

/** The rate of uncompressed video: a stated length that implies a higher one is false. */
const BYTES_PER_SECOND_MAX = 64 * 1024 * 1024
/** The longest plausible length. */
const SECONDS_MAX = 1_000_000

const readMp4 = (window: Window) => readWindow(window, readMp4Seconds(window.bytes))
const readWav = (window: Window) => readWindow(window, readWavSeconds(window.bytes))

const READERS: Readonly<Record<string, (window: Window) => Promise<number | undefined>>> = {
  'audio/wav': readWav,
  'audio/ogg': readOgg,
  'audio/flac': readFlac,
  'video/webm': readMatroska,
  'audio/mp4': readMp4,
  'video/mp4': readMp4,
  'video/quicktime': readMp4,
  'audio/mpeg': readMp3,
}

/**
 * Resolves to seconds, or to undefined if no length is certain. Rejects if the file cannot be read.
 */
export async function readLength(window: Window): Promise<number | undefined> {
  const reader = READERS[sniffType(await window.at(0, SNIFFED_BYTES))]
  const seconds = await reader?.(window)
  if (seconds === undefined || !Number.isFinite(seconds)) return undefined
  const least = window.bytes / BYTES_PER_SECOND_MAX
  return seconds > 0 && seconds >= least && seconds <= SECONDS_MAX ? seconds : undefined
}

/** Reads the length of a FLAC file from its first block. */
async function readFlac(window: Window): Promise<number | undefined> {
  const head = await window.at(0, RATE_AT + 8)
  const first = head[STREAM_INFO_AT]
  if (head.length < RATE_AT + 8 || first === undefined || (first & 0x7f) !== 0) return undefined
  // 20 bits of sample rate, 3 of channels, 5 of depth, 36 of the number of samples.
  const rate = head.readUInt32BE(RATE_AT) >>> 12
  const samples = (head.readUInt8(RATE_AT + 3) & 0xf) * 2 ** 32 + head.readUInt32BE(RATE_AT + 4)
  return rate > 0 && samples > 0 ? samples / rate : undefined
}
