/** Chooses the format of a recording by its address and its stated type. */
import { asString, type JsonObject } from '../../lib/json.ts'

/** Formats by the suffix of the address (docs/protocols/volcengine-recognition.md#submission). */
const FORMATS: Readonly<Record<string, string>> = {
  wav: 'wav',
  mp3: 'mp3',
  ogg: 'ogg',
  opus: 'ogg',
  pcm: 'raw',
}
/** Containers that the vendor does not take. */
const UNTAKEN = 'm4a|m4b|mp4|m4v|mov|aac|flac|webm|mkv|avi|flv|wmv|wma|amr|3gp|aiff?|caf|ape|ts'
const UNTAKEN_SUFFIX = new RegExp(`^(?:${UNTAKEN})$`)

/** Formats by the media type that the file or its server states. */
const FORMAT_OF_TYPE: readonly (readonly [RegExp, string])[] = [
  [/^audio\/(?:x-|vnd\.)?wave?\b/, 'wav'],
  [/^audio\/(?:x-)?(?:mpeg|mp3)\b/, 'mp3'],
  [/^(?:audio|video|application)\/(?:x-)?(?:ogg|opus)\b/, 'ogg'],
]
const UNTAKEN_TYPE = new RegExp(
  `^(?:audio|video)/(?:x-)?(${UNTAKEN}|quicktime|matroska|msvideo|ms-wma|ms-wmv|3gpp)\\b`,
)

export type RecordingFormat =
  | { readonly format: string }
  /** The container that is not taken. */
  | { readonly untaken: string }

/** Prefers the type to the suffix. Without either it is mp3, the most common format. */
export function readFormat({ file_url: url, media_type: type }: JsonObject): RecordingFormat {
  const mediaType = asString(type) ?? ''
  const stated = FORMAT_OF_TYPE.find(([pattern]) => pattern.test(mediaType))?.[1]
  if (stated) return { format: stated }
  const [, untakenType] = UNTAKEN_TYPE.exec(mediaType) ?? []
  if (untakenType) return { untaken: untakenType }
  const path = URL.parse(String(url))?.pathname ?? ''
  const suffix = /\.(\w{1,5})$/.exec(path)?.[1]?.toLowerCase() ?? ''
  if (UNTAKEN_SUFFIX.test(suffix)) return { untaken: suffix }
  return { format: FORMATS[suffix] ?? 'mp3' }
}
