/** What a file is, by its first bytes: the type that a caller claims is not believed. */

interface Signature {
  readonly type: string
  readonly at: number
  readonly bytes: string
  /** A second mark, for containers that hold several types. */
  readonly and?: { readonly at: number; readonly bytes: string }
}

const SIGNATURES: readonly Signature[] = [
  { type: 'image/png', at: 0, bytes: '\x89PNG\r\n\x1a\n' },
  { type: 'image/jpeg', at: 0, bytes: '\xff\xd8\xff' },
  { type: 'image/gif', at: 0, bytes: 'GIF8' },
  { type: 'image/webp', at: 0, bytes: 'RIFF', and: { at: 8, bytes: 'WEBP' } },
  { type: 'audio/wav', at: 0, bytes: 'RIFF', and: { at: 8, bytes: 'WAVE' } },
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
  { type: 'audio/aac', at: 0, bytes: '\xff\xf1' },
  { type: 'audio/aac', at: 0, bytes: '\xff\xf9' },
  { type: 'audio/mpeg', at: 0, bytes: '\xff\xfb' },
  { type: 'audio/mpeg', at: 0, bytes: '\xff\xf3' },
  { type: 'audio/mpeg', at: 0, bytes: '\xff\xf2' },
  { type: 'application/pdf', at: 0, bytes: '%PDF-' },
]

/** Anything not recognised is bytes: nothing that a browser would run. */
const UNKNOWN = 'application/octet-stream'

export function sniffType(head: Buffer): string {
  const text = head.toString('latin1')
  const holds = ({ at, bytes }: { readonly at: number; readonly bytes: string }) =>
    text.startsWith(bytes, at)
  return SIGNATURES.find((one) => holds(one) && (!one.and || holds(one.and)))?.type ?? UNKNOWN
}
