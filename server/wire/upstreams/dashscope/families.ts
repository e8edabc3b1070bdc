/** The rules of the vendor's video and image models, as data (docs/protocols/dashscope.md). */
import type { VideoRules } from '../../dialects/video/content.ts'

export interface VideoFamily extends VideoRules {
  /** The vendor's word for a video among the media. */
  readonly videoWord: string
}

const WAN_3: VideoFamily = {
  seconds: { min: 2, max: 30 },
  choosesDuration: true,
  resolutions: ['480p', '720p', '1080p'],
  resolution: '720p',
  text: true,
  frames: 2,
  referenceImages: 10,
  referenceVideos: 5,
  referenceAudios: 5,
  audioAlone: true,
  flex: false,
  characters: 20_000,
  fields: ['generate_audio', 'prompt_extend', 'seed', 'watermark'],
  inputSeconds: 15,
  secondsWithVideo: 30,
  videoWord: 'reference_video',
}
const WAN_27: VideoFamily = {
  ...WAN_3,
  seconds: { min: 2, max: 15 },
  choosesDuration: false,
  resolutions: ['720p', '1080p'],
  frames: 0,
  referenceImages: 0,
  referenceVideos: 0,
  referenceAudios: 0,
  audioAlone: false,
  characters: 5_000,
  fields: ['negative_prompt', 'prompt_extend', 'seed', 'watermark'],
  inputSeconds: 0,
}
/** The first that matches; a model of no line has the rules of the last generation. */
const VIDEOS: readonly (readonly [RegExp, VideoFamily])[] = [
  [/^wan2\.7-t2v/, WAN_27],
  [/^wan2\.7-i2v/, { ...WAN_27, text: false, frames: 2, ratios: [] }],
  [
    /^wan2\.7-r2v/,
    {
      ...WAN_27,
      text: false,
      referenceImages: 5,
      referenceVideos: 5,
      media: 5,
      inputSeconds: 5,
      secondsWithVideo: 15,
    },
  ],
  [
    /^wan2\.7-videoedit/,
    {
      ...WAN_27,
      seconds: { min: 2, max: 10 },
      text: false,
      referenceImages: 4,
      referenceVideos: 1,
      inputSeconds: 10,
      secondsWithVideo: 20,
      videoWord: 'video',
    },
  ],
]

export function videoFamilyOf(upstreamModel: string): VideoFamily {
  return VIDEOS.find(([name]) => name.test(upstreamModel))?.[1] ?? WAN_3
}

export interface ImageFamily {
  /** Most images of one call, and most that it takes. */
  readonly images: number
  readonly inputImages: number
}

/** An input image with a fee, which no unit of price represents, is not taken. */
const IMAGES: readonly (readonly [RegExp, ImageFamily])[] = [
  [/^qwen-image-edit/, { images: 6, inputImages: 3 }],
  [/^qwen-image-[23]/, { images: 6, inputImages: 0 }],
  [/^wan2\.[67]-image/, { images: 4, inputImages: 9 }],
]

export function imageFamilyOf(upstreamModel: string): ImageFamily {
  return IMAGES.find(([name]) => name.test(upstreamModel))?.[1] ?? { images: 1, inputImages: 0 }
}
