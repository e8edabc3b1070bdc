/** Formats of frames with a header of their own: MPEG audio, ADTS (which holds AAC), and AMR. */
import { FRAME_HEADER_BYTES, readMpegFrame } from '../../mpeg-frame.ts'
import { AAC_RATES } from './aac-config.ts'
import type { FrameFormat } from './count-frames.ts'

export const MPEG: FrameFormat = {
  headBytes: FRAME_HEADER_BYTES,
  mark: 0xff,
  read: (bytes, at) => readMpegFrame(bytes.readUInt32BE(at)),
}

const ADTS_HEAD_BYTES = 7
const AAC_SAMPLES = 1024
/** Of version, layer, profile and rate. */
const KIND_MASK = 0xfffe_fc00

export const ADTS: FrameFormat = {
  headBytes: ADTS_HEAD_BYTES,
  mark: 0xff,
  isPlayedWhole: true,
  read(bytes, at) {
    const head = bytes.readUInt32BE(at)
    const rate = AAC_RATES[(head >>> 10) & 0xf]
    const isAdts = head >>> 20 === 0xfff && ((head >>> 17) & 3) === 0
    const length = (bytes.readUIntBE(at + 3, 3) >>> 5) & 0x1fff
    if (!isAdts || !rate || length < ADTS_HEAD_BYTES) return undefined
    const blocks = ((bytes[at + 6] ?? 0) & 3) + 1
    return { bytes: length, samples: AAC_SAMPLES * blocks, rate, kind: (head & KIND_MASK) >>> 0 }
  },
}

/** Bytes of a frame after its first, by mode; of the modes not listed, 0. */
const AMR_BYTES = [12, 13, 15, 17, 19, 20, 26, 31, 5]
const AMR_WIDE_BYTES = [17, 23, 32, 36, 40, 46, 50, 58, 60, 5]
const AMR_RATE = 8000
const AMR_SECONDS = 0.02

function amr(sizes: readonly number[]): FrameFormat {
  return {
    headBytes: 1,
    read(bytes, at) {
      const size = sizes[((bytes[at] ?? 0) >>> 3) & 0xf] ?? 0
      return { bytes: size + 1, samples: AMR_RATE * AMR_SECONDS, rate: AMR_RATE, kind: 0 }
    },
  }
}

export const AMR = amr(AMR_BYTES)
export const AMR_WIDE = amr(AMR_WIDE_BYTES)
