/** Values of a speech request, in both dialects. */
import type { PlaygroundModel } from '../frame/capability.ts'

export const NATIVE = '/v1/audio/speech/unidirectional'
const SYNTHESIS = '/v1/audio/speech'

export interface SpeechValues {
  readonly path: string
  readonly text: string
  /** Empty for the first of the model's list. */
  readonly voice: string
  readonly format: string
  /** 1 is normal speed. */
  readonly speed: number | string
  readonly loudness: number | string
  readonly context: string
  readonly hasTimes: boolean
}

const OLD_VOICES = ['zh_female_wanwanxiaohe_moon_bigtts', 'zh_male_yangguangqingnian_moon_bigtts']
const NEW_VOICES = [
  'zh_female_vv_uranus_bigtts',
  'zh_female_xiaohe_uranus_bigtts',
  'zh_male_m191_uranus_bigtts',
  'zh_male_taocheng_uranus_bigtts',
]
const OPEN_VOICES = [
  'alloy',
  'ash',
  'ballad',
  'coral',
  'echo',
  'fable',
  'nova',
  'onyx',
  'sage',
  'shimmer',
]

/** Returns voices of the model's generation; callers may name others. */
export function voicesOf({ id, endpoints }: PlaygroundModel): readonly string[] {
  if (!endpoints.includes(NATIVE)) return OPEN_VOICES
  return id.includes('-1.0') ? OLD_VOICES : NEW_VOICES
}

export function pathsOf({ endpoints }: PlaygroundModel): readonly string[] {
  return [NATIVE, SYNTHESIS].filter((path) => endpoints.includes(path))
}

export function speechPath(model: PlaygroundModel, { path }: SpeechValues): string {
  const paths = pathsOf(model)
  return paths.includes(path) ? path : (paths[0] ?? path)
}

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  [NATIVE]: ['mp3', 'ogg_opus', 'wav', 'pcm'],
  [SYNTHESIS]: ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'],
}

export function formatsOf(path: string): readonly string[] {
  return FORMATS[path] ?? []
}

export function chosenFormat(path: string, { format }: SpeechValues): string {
  return formatsOf(path).includes(format) ? format : 'mp3'
}

const TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  ogg_opus: 'audio/ogg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
}

export function contentTypeOfFormat(format: string): string {
  return TYPES[format] ?? 'application/octet-stream'
}
