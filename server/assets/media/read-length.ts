/**
 * How long a recording is, by the header of its container. A file that lies is only believed
 * within reason; one that does not say, or is no recording, has no length here.
 */

import type { Window } from './open-window.ts'
import { readFlac } from './read-flac.ts'
import { readMatroska } from './read-matroska.ts'
import { readMp3 } from './read-mp3.ts'
import { readMp4 } from './read-mp4.ts'
import { readOgg } from './read-ogg.ts'
import { readWav } from './read-wav.ts'

const MAGIC_BYTES = 12
/** Uncompressed video at most: a shorter length than that says is a lie. */
const BYTES_PER_SECOND_MAX = 64 * 1024 * 1024
/** A silent film of two frames an hour: a longer one is a lie. */
const SECONDS_MAX = 1_000_000

type Reader = (window: Window) => Promise<number | undefined>

/** Seconds; undefined when nothing is certain. Rejects when the file cannot be read. */
export async function readLength(window: Window): Promise<number | undefined> {
  const reader = readerOf(await window.at(0, MAGIC_BYTES))
  const seconds = await reader?.(window)
  if (seconds === undefined || !Number.isFinite(seconds)) return undefined
  const least = window.bytes / BYTES_PER_SECOND_MAX
  return seconds > 0 && seconds >= least && seconds <= SECONDS_MAX ? seconds : undefined
}

function readerOf(magic: Buffer): Reader | undefined {
  const text = magic.toString('latin1')
  if (text.startsWith('RIFF') && text.startsWith('WAVE', 8)) return readWav
  if (text.startsWith('OggS')) return readOgg
  if (text.startsWith('fLaC')) return readFlac
  if (text.startsWith('\x1a\x45\xdf\xa3')) return readMatroska
  if (text.startsWith('ftyp', 4)) return readMp4
  const second = magic[1] ?? 0
  const isFrame = magic[0] === 0xff && (second & 0xe0) === 0xe0 && (second & 0b110) !== 0
  return text.startsWith('ID3') || isFrame ? readMp3 : undefined
}
