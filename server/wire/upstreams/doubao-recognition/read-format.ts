/** Chooses the format of a recording by its address and its stated type. */
import { asString, type JsonObject } from '../../../base/lib/json.ts'

/** Formats by the suffix of the address (docs/protocols/volcengine-recognition.md#submission). */
const FORMATS: Readonly<Record<string, string>> = {
  wav: 'wav',
  mp3: 'mp3',
  ogg: 'ogg',
  opus: 'ogg',
  pcm: 'raw',
}
export const TAKEN = ['wav', 'mp3', 'ogg', 'pcm'] as const
/** Containers that the vendor does not take. */
const SOUND = 'm4a m4b aac flac wma amr aiff aif caf ape'
const VIDEO = 'mp4 m4v mov webm mkv avi flv wmv asf 3gp mpg mpeg ts'
export const UNTAKEN = `${SOUND} ${VIDEO}`.split(' ')
const UNTAKEN_NAMES = UNTAKEN.join('|')
const UNTAKEN_SUFFIX = new RegExp(`^(?:${UNTAKEN_NAMES})$`)

/** Formats by the media type that the file or its server states. */
const FORMAT_OF_TYPE: readonly (readonly [RegExp, string])[] = [
  [/^audio\/(?:x-|vnd\.)?wave?\b/, 'wav'],
  [/^audio\/(?:x-)?(?:mpeg|mp3)\b/, 'mp3'],
  [/^(?:audio|video|application)\/(?:x-)?(?:ogg|opus)\b/, 'ogg'],
]
const OTHER_NAMES = 'quicktime|matroska|msvideo|ms-wma|ms-wmv|ms-asf|3gpp|mp2t'
const UNTAKEN_TYPE = new RegExp(`^(?:audio|video)/(?:x-)?(${UNTAKEN_NAMES}|${OTHER_NAMES})\\b`)

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
