/** Measures the length of a recording that has arrived, and names its format for vendors. */
import {
  openWindow,
  type ReadRange,
  UnseenBytes,
  type Window,
  WindowExhausted,
} from '../../../base/lib/media/open-window.ts'
import { readLength } from '../../../base/lib/media/read-length.ts'
import { SNIFFED_BYTES, sniffType } from '../../../base/lib/media/sniff-type.ts'
import { measureSound, type SoundLength } from '../../../base/lib/media/sound/measure-sound.ts'

export interface AudioMeasurement {
  readonly start: number
  readonly bytes: number
  /**
   * The duration in seconds, rounded up and at least one. For a file in an unknown format, an upper
   * bound from its size.
   */
  readonly seconds: number
  /** The reason why the recording cannot be measured; it follows the word `file`. */
  readonly fault?: string
}

/** Enough for `nameRecording`. */
export const RECORDING_HEAD_BYTES = SNIFFED_BYTES
/**
 * The lowest common rate of recorded speech. The hold of a recording in an unknown format is
 * computed from it.
 */
export const SLOWEST_BYTES_PER_SECOND = 1000
const PIECE_BYTES = 64 * 1024
/** Allowed reads per byte: the file once, and its index again. */
const READS_MAX = 3
/** Decoders disagree by less than this. */
const TOLERANCE_SECONDS = 0.000_5

/** File names whose suffix tells vendors the format. */
const NAMES: Readonly<Record<string, string>> = {
  'audio/wav': 'audio.wav',
  'audio/ogg': 'audio.ogg',
  'audio/flac': 'audio.flac',
  'video/webm': 'audio.webm',
  'audio/mp4': 'audio.m4a',
  'video/mp4': 'audio.mp4',
  'video/quicktime': 'audio.mp4',
  'audio/mpeg': 'audio.mp3',
}

/** Creates an inspector of one file, which is measured once it has arrived. */
export function createAudioMeter() {
  let bytes = 0
  return {
    push(chunk: Buffer): void {
      bytes += chunk.length
    },
    async end(read: ReadRange): Promise<AudioMeasurement> {
      const { seconds, fault } = await measure(bytes, read)
      const counted = seconds ?? bytes / SLOWEST_BYTES_PER_SECOND
      const least = bytes === 0 ? 0 : 1
      return {
        start: 0,
        bytes,
        seconds: Math.max(least, Math.ceil(counted - TOLERANCE_SECONDS)),
        fault,
      }
    },
  }
}

async function measure(bytes: number, read: ReadRange): Promise<SoundLength> {
  const piecesMax = READS_MAX * Math.ceil(bytes / PIECE_BYTES) + READS_MAX
  const window = openWindow(bytes, read, { pieceBytes: PIECE_BYTES, piecesMax })
  try {
    return await measureSound(window)
  } catch (error) {
    if (error instanceof UnseenBytes) return { seconds: await readStated(openWindow(bytes, read)) }
    if (error instanceof WindowExhausted) return { seconds: undefined, fault: 'is out of order' }
    throw error
  }
}

/** Resolves to the duration that a header states while most of the file has not arrived. */
async function readStated(window: Window): Promise<number | undefined> {
  try {
    return await readLength(window)
  } catch (error) {
    if (error instanceof UnseenBytes || error instanceof WindowExhausted) return undefined
    throw error
  }
}

/**
 * Returns a name with the suffix by which vendors detect formats; the caller's own name is not
 * trusted. Undefined if the content looks like no recording.
 */
export function nameRecording(head: Buffer): string | undefined {
  return NAMES[sniffType(head)]
}
