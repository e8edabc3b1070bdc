/** Counts the samples of one stream of an Ogg file, page by page. */
import { evenCodec, flacCodec, opusCodec, type SoundCodec } from './codecs/sound-codec.ts'
import { vorbisCodec } from './codecs/vorbis-codec.ts'

export interface OggPage {
  /** Packets or parts of them; all but the last end here. */
  readonly parts: readonly { readonly content: Buffer; readonly isEnd: boolean }[]
  /** The number of samples up to its end, as stated; negative if no packet ends on it. */
  readonly position: number
  /** True if its first part continues a packet. */
  readonly isContinued: boolean
  readonly isFirst: boolean
  /** True if it ends the stream. */
  readonly isLast: boolean
}

export interface OggStream {
  take(page: OggPage): void
  /** Returns 0 for a stream without sound. */
  seconds(): number
}

/** A packet with headers is kept whole up to here; of any other the beginning is enough. */
const HEADER_BYTES_MAX = 256 * 1024
const SOUND_BYTES_KEPT = 32

/** Names the codec in a stream's first packet, and opens it after so many packets with headers. */
interface OggCodec {
  readonly mark: string
  readonly headers: number
  readonly open: (headers: readonly Buffer[]) => SoundCodec | undefined
}

const NO_BYTES = Buffer.alloc(0)
const SPEEX_BYTES = 68
const SPEEX_RATE = 8000
/** Samples of a frame at the narrowest of three bands; each wider one doubles rate and samples. */
const SPEEX_SAMPLES = 160

const CODECS: readonly OggCodec[] = [
  { mark: 'OpusHead', headers: 2, open: ([head = NO_BYTES]) => opusCodec(head) },
  {
    mark: '\x01vorbis',
    headers: 3,
    open: ([first = NO_BYTES, , setup = NO_BYTES]) => vorbisCodec(first, setup),
  },
  {
    mark: '\x7fFLAC',
    headers: 1,
    open: ([head = NO_BYTES]) =>
      head.length < 31 ? undefined : flacCodec(head.readUInt32BE(27) >>> 12),
  },
  {
    mark: 'Speex   ',
    headers: 2,
    open: ([head = NO_BYTES]) =>
      head.length < SPEEX_BYTES
        ? undefined
        : evenCodec(SPEEX_RATE, SPEEX_SAMPLES * Math.max(1, head.readUInt32LE(64))),
  },
]

export function createOggStream(): OggStream {
  const headers: Buffer[] = []
  let kind: OggCodec | undefined
  let codec: SoundCodec | undefined
  let packet: Buffer = NO_BYTES
  let packetBytes = 0
  let isInside = false
  let isIgnored = false
  let samples = 0
  let lastSamples = 0
  /** The position of the first sample, as the first page with sound states it. */
  let origin: number | undefined
  let dropped = 0

  function takePacket(): void {
    if (codec) {
      lastSamples = codec.samplesOf(packet, packetBytes)
      samples += lastSamples
      return
    }
    if (headers.length === 0) {
      kind = CODECS.find(({ mark }) => packet.toString('latin1', 0, mark.length) === mark)
    }
    isIgnored = !kind
    headers.push(packet)
    if (!kind || headers.length < kind.headers) return
    codec = kind.open(headers)
    isIgnored = !codec
  }

  function takePart({ content, isEnd }: OggPage['parts'][number]): void {
    const kept = (codec ? SOUND_BYTES_KEPT : HEADER_BYTES_MAX) - packet.length
    if (packet.length === 0) packet = content
    else if (kept > 0) packet = Buffer.concat([packet, content.subarray(0, kept)])
    packetBytes += content.length
    isInside = !isEnd
    if (!isEnd) return
    takePacket()
    packet = NO_BYTES
    packetBytes = 0
  }

  return {
    take({ parts, position, isContinued, isLast }) {
      if (isIgnored) return
      const before = samples
      // The continuation of a packet whose beginning is missing does not count as a packet.
      const lost = isContinued && !isInside ? 1 : 0
      for (const part of parts.slice(lost)) if (!isIgnored) takePart(part)
      if (!codec || samples === before) return
      if (origin === undefined) origin = isLast ? 0 : Math.max(0, position - (samples - before))
      dropped = isLast ? Math.min(Math.max(0, origin + samples - position), lastSamples) : 0
    },
    seconds() {
      if (!codec) return 0
      return Math.max(0, samples - codec.skip - dropped) / codec.rate()
    },
  }
}
