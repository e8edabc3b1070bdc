/** Parses the header of a FLAC frame, which a checksum ends. */

export interface FlacFrame {
  readonly samples: number
  /** Undefined: that of the stream. */
  readonly rate: number | undefined
  /** The number of its first sample, or of the frame if all have the same size. */
  readonly number: number
  /** The number of the frame that follows it. */
  readonly nextNumber: number
  /** Equal in most frames of one stream. */
  readonly kind: number
}

/** The longest header. */
export const FLAC_HEAD_BYTES = 16
const SYNC = 0x7ffc
const RATES = [
  undefined,
  88_200,
  176_400,
  192_000,
  8000,
  16_000,
  22_050,
  24_000,
  32_000,
  44_100,
  48_000,
  96_000,
]
const CHANNEL_FORMS = 11
const RESERVED_DEPTH = 3
const POLYNOMIAL = 0x07
const CHECKSUMS = Uint8Array.from({ length: 256 }, (_, byte) => {
  let sum = byte
  for (let bit = 0; bit < 8; bit += 1) sum = ((sum << 1) ^ (sum & 0x80 ? POLYNOMIAL : 0)) & 0xff
  return sum
})

/** Returns undefined if no frame begins at the offset. */
export function readFlacFrame(bytes: Buffer, at: number): FlacFrame | undefined {
  if (bytes.length < at + 6 || bytes.readUInt16BE(at) >>> 1 !== SYNC) return undefined
  const [sizes = 0, form = 0] = bytes.subarray(at + 2, at + 4)
  const isReserved = ((form >>> 1) & 7) === RESERVED_DEPTH || (form & 1) === 1
  if (isReserved || form >>> 4 >= CHANNEL_FORMS) return undefined
  const number = readNumber(bytes, at + 4)
  if (!number) return undefined
  const size = readSize(bytes, number.end, sizes >>> 4)
  const rate = size && readRate(bytes, size.end, sizes & 0xf)
  if (!size || !rate || bytes[rate.end] !== checksum(bytes.subarray(at, rate.end))) return undefined
  const isVariable = ((bytes[at + 1] ?? 0) & 1) === 1
  return {
    samples: size.samples,
    rate: rate.rate,
    number: number.value,
    nextNumber: number.value + (isVariable ? size.samples : 1),
    kind: bytes.readUInt32BE(at),
  }
}

/** The number is written as a character of UTF-8 would be, of up to seven bytes. */
function readNumber(bytes: Buffer, at: number): { value: number; end: number } | undefined {
  const first = bytes[at] ?? 0
  const count = Math.clz32(~(first << 24))
  if (count === 0) return { value: first, end: at + 1 }
  if (count === 1 || count > 7) return undefined
  let value = first & (0x7f >>> count)
  for (let index = 1; index < count; index += 1) {
    const byte = bytes[at + index] ?? 0
    if (byte >>> 6 !== 2) return undefined
    value = value * 64 + (byte & 0x3f)
  }
  return { value, end: at + count }
}

function readSize(bytes: Buffer, at: number, code: number) {
  if (code === 0 || bytes.length < at + 2) return undefined
  if (code === 1) return { samples: 192, end: at }
  if (code <= 5) return { samples: 576 << (code - 2), end: at }
  if (code === 6) return { samples: (bytes[at] ?? 0) + 1, end: at + 1 }
  if (code === 7) return { samples: bytes.readUInt16BE(at) + 1, end: at + 2 }
  return { samples: 256 << (code - 8), end: at }
}

function readRate(bytes: Buffer, at: number, code: number) {
  if (code === 15 || bytes.length < at + 2) return undefined
  if (code === 12) return { rate: (bytes[at] ?? 0) * 1000, end: at + 1 }
  if (code > 12) return { rate: bytes.readUInt16BE(at) * (code === 14 ? 10 : 1), end: at + 2 }
  return { rate: RATES[code], end: at }
}

function checksum(head: Uint8Array): number {
  let sum = 0
  for (const byte of head) sum = CHECKSUMS[sum ^ byte] ?? 0
  return sum
}
