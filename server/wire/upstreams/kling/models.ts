/** The rules of the vendor's video models, as data (docs/protocols/kling.md#models). */
import type { VideoRules } from '../../dialects/video/content.ts'

export interface KlingModel extends VideoRules {
  /** Sound where the caller chooses it, in 1080p alone, always, or never. */
  readonly sound: 'chosen' | '1080p' | 'always' | 'never'
  /** The resolution that a last frame needs. */
  readonly lastFrame?: string
}

const THREE: KlingModel = {
  seconds: { min: 3, max: 15 },
  choosesDuration: false,
  resolutions: ['720p', '1080p', '4k'],
  resolution: '720p',
  text: true,
  frames: 2,
  referenceImages: 0,
  referenceVideos: 0,
  referenceAudios: 0,
  audioAlone: false,
  flex: false,
  characters: 3_072,
  ratios: ['16:9', '9:16', '1:1'],
  fields: ['generate_audio', 'watermark', 'multi_shot'],
  sound: 'chosen',
}
const TWO: KlingModel = {
  ...THREE,
  seconds: { min: 5, max: 10 },
  lengths: [5, 10],
  resolutions: ['720p', '1080p'],
  characters: 2_500,
  fields: ['generate_audio', 'watermark'],
  sound: 'never',
  lastFrame: '1080p',
}
/** By the start of the newer name; a model of no line has the rules of 3.0. */
const MODELS: readonly (readonly [string, KlingModel])[] = [
  ['kling-3.0-turbo', { ...THREE, resolutions: ['720p', '1080p'], frames: 1, sound: 'always' }],
  ['kling-2.6', { ...TWO, sound: '1080p' }],
  ['kling-2', TWO],
  ['kling-1', TWO],
]

export function klingModelOf(upstreamModel: string): KlingModel {
  const name = newerNameOf(upstreamModel)
  return MODELS.find(([start]) => name.startsWith(start))?.[1] ?? THREE
}

const NAME = /^kling-v?(\d)(?:[.-](\d))?(?![\d.])(.{0,100})$/

/** Returns the name in the newer paths: `kling-2.6`, also of `kling-v2-6`. */
export function newerNameOf(upstreamModel: string): string {
  const [, major, minor = '0', rest] = NAME.exec(upstreamModel) ?? []
  return major === undefined ? upstreamModel : `kling-${major}.${minor}${rest}`
}

/** Returns the name on the older paths: `kling-v2-6`, and `kling-v3` of `kling-3.0`. */
export function olderNameOf(upstreamModel: string): string {
  const [, major, minor = '0', rest] = NAME.exec(upstreamModel) ?? []
  if (major === undefined) return upstreamModel
  return `kling-v${major}${minor === '0' ? '' : `-${minor}`}${rest}`
}
