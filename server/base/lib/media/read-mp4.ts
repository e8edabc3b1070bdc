/** Reads length, width and height of an MP4, M4A or MOV file from its index, wherever it is. */
import { type Box, findBox } from './mp4-boxes.ts'
import { type Reader, readHead } from './reader.ts'
import { sniffType } from './sniff-type.ts'

export interface VideoFacts {
  readonly width?: number
  readonly height?: number
  readonly seconds?: number
}

const MOVIE_HEADER_BYTES = 32
const TRACK_HEADER_BYTES = 96
const TRACKS_MAX = 200
/** Additional bytes of 64-bit times, before the sizes of a track. */
const LONGER_TIMES_BYTES = 12
const UNKNOWN_LENGTH_32 = 0xffffffff
const UNKNOWN_LENGTH_64 = 0xffffffffffffffffn
const MP4_TYPES: ReadonlySet<string> = new Set(['video/mp4', 'video/quicktime', 'audio/mp4'])

/** Returns seconds for a file of `bytes`, or undefined if its index states no length. */
export function* readMp4Seconds(bytes: number): Reader<number | undefined> {
  const movie = yield* findBox('moov', 0, bytes)
  return movie && (yield* readMovieSeconds(movie))
}

/**
 * Reads a file's first bytes. Vendors write the index first, so that playback can start at once;
 * for a file with the index at the end nothing is known.
 */
export function readVideoFacts(head: Buffer): VideoFacts {
  if (!MP4_TYPES.has(sniffType(head))) return {}
  return readHead(head, findFacts())
}

function* findFacts(): Reader<VideoFacts> {
  const movie = yield* findBox('moov', 0, Number.MAX_SAFE_INTEGER)
  if (!movie) return {}
  const seconds = yield* readMovieSeconds(movie)
  const size = yield* findTrackSize(movie)
  return { ...size, ...(seconds ? { seconds: Math.round(seconds * 1000) / 1000 } : {}) }
}

function* readMovieSeconds(movie: Box): Reader<number | undefined> {
  const header = yield* findBox('mvhd', movie.start, movie.end)
  if (!header || header.end - header.start < MOVIE_HEADER_BYTES) return undefined
  const content = yield { at: header.start, count: MOVIE_HEADER_BYTES }
  if (content.length < MOVIE_HEADER_BYTES) return undefined
  return content[0] === 1
    ? divide(content.readBigUInt64BE(24), UNKNOWN_LENGTH_64, content.readUInt32BE(20))
    : divide(content.readUInt32BE(16), UNKNOWN_LENGTH_32, content.readUInt32BE(12))
}

/** Returns undefined for a fragmented file, which states no length. */
function divide(length: number | bigint, unknown: number | bigint, scale: number) {
  return length === unknown || scale === 0 ? undefined : Number(length) / scale
}

/** Returns the size of the first track that has one; audio tracks have none. */
function* findTrackSize(movie: Box): Reader<VideoFacts | undefined> {
  let at = movie.start
  for (let tracks = 0; tracks < TRACKS_MAX; tracks += 1) {
    const track = yield* findBox('trak', at, movie.end)
    const header = track && (yield* findBox('tkhd', track.start, track.end))
    if (!track) return undefined
    const size = header && (yield* readTrackSize(header))
    if (size) return size
    at = track.end
  }
  return undefined
}

function* readTrackSize({ start, end }: Box): Reader<VideoFacts | undefined> {
  const content = yield { at: start, count: Math.min(TRACK_HEADER_BYTES, end - start) }
  const at = 76 + (content[0] === 1 ? LONGER_TIMES_BYTES : 0)
  if (content.length < at + 8) return undefined
  // Fixed-point numbers, whose upper half counts whole pixels.
  const width = content.readUInt16BE(at)
  const height = content.readUInt16BE(at + 4)
  return width > 0 && height > 0 ? { width, height } : undefined
}
