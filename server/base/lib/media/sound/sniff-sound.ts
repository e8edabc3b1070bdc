/** Detects the container of a recording by its first bytes, after any tags. */

export type SoundKind =
  | 'wav'
  | 'aiff'
  | 'flac'
  | 'mp4'
  | 'matroska'
  | 'ogg'
  | 'mpeg'
  | 'aac'
  | 'amr'
  | 'amr-wide'

interface Mark {
  readonly at: number
  readonly text: string
  readonly and?: { readonly at: number; readonly text: string }
}

const MARKS: readonly (Mark & { readonly kind: SoundKind })[] = [
  { kind: 'wav', at: 0, text: 'RIFF', and: { at: 8, text: 'WAVE' } },
  { kind: 'wav', at: 0, text: 'RF64', and: { at: 8, text: 'WAVE' } },
  { kind: 'wav', at: 0, text: 'BW64', and: { at: 8, text: 'WAVE' } },
  { kind: 'aiff', at: 0, text: 'FORM', and: { at: 8, text: 'AIF' } },
  { kind: 'flac', at: 0, text: 'fLaC' },
  { kind: 'matroska', at: 0, text: '\x1a\x45\xdf\xa3' },
  { kind: 'ogg', at: 0, text: 'OggS' },
  { kind: 'mpeg', at: 0, text: '\x00\x00\x01\xba' },
  { kind: 'amr', at: 0, text: '#!AMR\n' },
  { kind: 'amr-wide', at: 0, text: '#!AMR-WB\n' },
  // The first box of a file is one of these; older files have no type.
  ...['ftyp', 'styp', 'moov', 'mdat', 'moof', 'sidx', 'wide', 'free', 'skip', 'pnot', 'uuid'].map(
    (text) => ({ kind: 'mp4', at: 4, text }) as const,
  ),
]

/** Recordings that decoders know, and that have no reader here. */
const OTHERS: readonly (Mark & { readonly name: string })[] = [
  { name: 'a big-endian wav file', at: 0, text: 'RIFX' },
  { name: 'an AVI file', at: 0, text: 'RIFF' },
  { name: 'a Wave64 file', at: 0, text: 'riff\x2e\x91\xcf\x11' },
  { name: 'a CAF file', at: 0, text: 'caff' },
  { name: 'an AU file', at: 0, text: '.snd' },
  { name: 'a Windows Media file', at: 0, text: '\x30\x26\xb2\x75\x8e\x66\xcf\x11' },
  { name: 'a Flash video', at: 0, text: 'FLV' },
  { name: 'an MPEG transport stream', at: 0, text: 'G', and: { at: 188, text: 'G' } },
  { name: 'an MPEG transport stream', at: 4, text: 'G', and: { at: 196, text: 'G' } },
  { name: 'a RealMedia file', at: 0, text: '.RMF' },
  { name: 'a RealAudio file', at: 0, text: '.ra\xfd' },
  { name: 'an AC-3 file', at: 0, text: '\x0b\x77' },
  { name: 'a DTS file', at: 0, text: '\x7f\xfe\x80\x01' },
  { name: 'a WavPack file', at: 0, text: 'wvpk' },
  { name: 'a TTA file', at: 0, text: 'TTA1' },
  { name: "a Monkey's Audio file", at: 0, text: 'MAC ' },
  { name: 'a Musepack file', at: 0, text: 'MPCK' },
  { name: 'a Musepack file', at: 0, text: 'MP+' },
  { name: 'a DSD file', at: 0, text: 'DSD ' },
  { name: 'a DSD file', at: 0, text: 'FRM8' },
  { name: 'a MIDI file', at: 0, text: 'MThd' },
  { name: 'an ADIF file', at: 0, text: 'ADIF' },
]

/** First bytes needed. */
export const SNIFFED_SOUND_BYTES = 200

/**
 * Returns the kind, or the name of a recording that has no reader. Undefined for MPEG audio, which
 * has no mark, and for anything but a recording.
 */
export function sniffSound(head: Buffer): SoundKind | (string & {}) | undefined {
  const text = head.toString('latin1')
  const has = ({ at, text: mark, and }: Mark): boolean =>
    text.startsWith(mark, at) && (!and || has(and))
  const kind = MARKS.find(has)?.kind ?? OTHERS.find(has)?.name
  return kind ?? (isAdts(head) ? 'aac' : undefined)
}

/** The bits of a frame's beginning that MPEG audio uses for its layer are not set in ADTS. */
function isAdts([first = 0, second = 0]: Buffer): boolean {
  return first === 0xff && (second & 0xf6) === 0xf0
}
