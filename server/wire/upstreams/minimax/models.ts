/** The rules of the vendor's video models, as data (docs/protocols/minimax.md). */
import type { VideoRules } from '../../dialects/video/content.ts'

const H3: VideoRules = {
  seconds: { min: 4, max: 15 },
  choosesDuration: false,
  resolutions: ['768P', '2K'],
  resolution: '768P',
  text: true,
  frames: 2,
  referenceImages: 9,
  referenceVideos: 3,
  referenceAudios: 3,
  media: 12,
  audioAlone: false,
  flex: false,
  handles: ['mm_file'],
  fields: ['watermark'],
}

export function rulesOf(upstreamModel: string): VideoRules {
  // The word boundary keeps "MiniMax" from matching.
  const isMax = /-max\b/i.test(upstreamModel)
  return isMax ? { ...H3, seconds: { min: 5, max: 15 } } : H3
}

const HAILUO: VideoRules = {
  seconds: { min: 6, max: 10 },
  lengths: [6, 10],
  ratios: [],
  fields: ['watermark', 'prompt_optimizer', 'fast_pretreatment'],
  choosesDuration: false,
  resolutions: ['768P', '1080p'],
  resolution: '768P',
  text: true,
  frames: 1,
  referenceImages: 0,
  referenceVideos: 0,
  referenceAudios: 0,
  audioAlone: false,
  flex: false,
}
const OLDEST: VideoRules = {
  ...HAILUO,
  seconds: { min: 6, max: 6 },
  lengths: [6],
  resolutions: ['720p'],
  resolution: '720p',
}

/** Rules of the first protocol by the model's name. */
const FIRST: readonly (readonly [RegExp, VideoRules])[] = [
  [/hailuo-02/i, { ...HAILUO, frames: 2 }],
  [/hailuo-.{0,40}fast/i, { ...HAILUO, text: false }],
  [/hailuo/i, HAILUO],
  [/^s2v-/i, { ...OLDEST, frames: 0, referenceImages: 1, text: false }],
  [/^i2v-/i, { ...OLDEST, text: false }],
  [/^t2v-/i, { ...OLDEST, frames: 0 }],
]

export function firstRulesOf(upstreamModel: string): VideoRules {
  return FIRST.find(([name]) => name.test(upstreamModel))?.[1] ?? HAILUO
}
