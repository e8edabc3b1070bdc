/** What the vendor's video models take, as data (upstreams.md 6B.1). */
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
}

export function rulesOf(upstreamModel: string): VideoRules {
  // The vendor's own name has a "max" in it too.
  const isMax = /-max\b/i.test(upstreamModel)
  return isMax ? { ...H3, seconds: { min: 5, max: 15 } } : H3
}
