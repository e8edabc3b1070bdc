/**
 * How long a recording is, by the header of its container. A file that lies is only believed
 * within reason; one that does not say, or is no recording, has no length here.
 */

import type { Window } from './open-window.ts'
import { readFlac } from './read-flac.ts'
import { readMatroska } from './read-matroska.ts'
import { readMp3 } from './read-mp3.ts'
import { readMp4Seconds } from './read-mp4.ts'
import { readOgg } from './read-ogg.ts'
import { readWavSeconds } from './read-wav.ts'
import { readWindow } from './reader.ts'
import { SNIFFED_BYTES, sniffType } from './sniff-type.ts'

/** Uncompressed video at most: a shorter length than that says is a lie. */
const BYTES_PER_SECOND_MAX = 64 * 1024 * 1024
/** A silent film of two frames an hour: a longer one is a lie. */
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

/** Seconds; undefined when nothing is certain. Rejects when the file cannot be read. */
export async function readLength(window: Window): Promise<number | undefined> {
  const reader = READERS[sniffType(await window.at(0, SNIFFED_BYTES))]
  const seconds = await reader?.(window)
  if (seconds === undefined || !Number.isFinite(seconds)) return undefined
  const least = window.bytes / BYTES_PER_SECOND_MAX
  return seconds > 0 && seconds >= least && seconds <= SECONDS_MAX ? seconds : undefined
}
