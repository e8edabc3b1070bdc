/** Detects a file's type by its first bytes: the type claimed by a caller is not trusted. */

interface Signature {
  readonly type: string
  readonly at: number
  readonly bytes: string
  /** A second signature, for containers of several types. */
  readonly and?: { readonly at: number; readonly bytes: string }
}

const SIGNATURES: readonly Signature[] = [
  { type: 'image/png', at: 0, bytes: '\x89PNG\r\n\x1a\n' },
  { type: 'image/jpeg', at: 0, bytes: '\xff\xd8\xff' },
  { type: 'image/gif', at: 0, bytes: 'GIF8' },
  { type: 'image/webp', at: 0, bytes: 'RIFF', and: { at: 8, bytes: 'WEBP' } },
  { type: 'audio/wav', at: 0, bytes: 'RIFF', and: { at: 8, bytes: 'WAVE' } },
  { type: 'audio/wav', at: 0, bytes: 'RF64', and: { at: 8, bytes: 'WAVE' } },
  { type: 'audio/wav', at: 0, bytes: 'BW64', and: { at: 8, bytes: 'WAVE' } },
  { type: 'video/x-msvideo', at: 0, bytes: 'RIFF', and: { at: 8, bytes: 'AVI ' } },
  { type: 'audio/mp4', at: 4, bytes: 'ftypM4A' },
  { type: 'image/heic', at: 4, bytes: 'ftyphei' },
  { type: 'video/quicktime', at: 4, bytes: 'ftypqt' },
  { type: 'video/mp4', at: 4, bytes: 'ftyp' },
  { type: 'video/webm', at: 0, bytes: '\x1a\x45\xdf\xa3' },
  { type: 'video/x-flv', at: 0, bytes: 'FLV' },
  { type: 'audio/ogg', at: 0, bytes: 'OggS' },
  { type: 'audio/flac', at: 0, bytes: 'fLaC' },
  { type: 'audio/mpeg', at: 0, bytes: 'ID3' },
  { type: 'application/pdf', at: 0, bytes: '%PDF-' },
]

/** Unrecognised content, which browsers do not execute. */
const UNKNOWN = 'application/octet-stream'
/** First bytes needed for detection. */
export const SNIFFED_BYTES = 12

/** Returns a media type for a file's first bytes. */
export function sniffType(head: Buffer): string {
  const text = head.toString('latin1', 0, SNIFFED_BYTES)
  const holds = ({ at, bytes }: { readonly at: number; readonly bytes: string }) =>
    text.startsWith(bytes, at)
  const found = SIGNATURES.find((one) => holds(one) && (!one.and || holds(one.and)))
  return found?.type ?? sniffFrame(head) ?? UNKNOWN
}

/** MPEG audio has no signature except the eleven bits that begin each frame. */
function sniffFrame([first = 0, second = 0]: Buffer): string | undefined {
  // A UTF-16 byte order mark looks like layer I with checksums, which is not in use.
  if (first !== 0xff || (second & 0xe0) !== 0xe0 || second === 0xfe) return undefined
  const isLayered = (second & 0b110) !== 0
  if (isLayered) return (second & 0b11000) === 0b01000 ? undefined : 'audio/mpeg'
  return (second & 0xf0) === 0xf0 ? 'audio/aac' : undefined
}
