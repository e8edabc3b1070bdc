// Checks POST /v2/video_generation. Content has ARK's shape; the other rules are its own. Unknown
// fields are refused, which is stricter than the vendor is known to be.
import { promptOf, readContent } from '../ark-media/content.ts'
import type { Family } from '../ark-media/families.ts'
import { isInteger, isObject, type Json, objects, text } from '../kernel/checks.ts'
import { Refused } from '../kernel/exchange.ts'

export interface MinimaxOrder {
  model: string
  prompt: string
  resolution: string
  ratio: string
  width: number
  height: number
  seconds: number
  images: number
  videos: number
  callbackUrl: string | undefined
}

const KEYS = [
  'model',
  'content',
  'resolution',
  'duration',
  'ratio',
  'aigc_watermark',
  'callback_url',
]
const RATIOS = ['adaptive', '21:9', '16:9', '4:3', '1:1', '3:4', '9:16']
const SHORT_SIDES: Record<string, number> = { '768P': 768, '2K': 1440 }
const SHORTEST_SECONDS: Record<string, number> = { 'MiniMax-H3': 4, 'MiniMax-H3-Max': 5 }
const MOST_FILES = 12

const CONTENT_RULES: Family = {
  generation: '2.0',
  seconds: [4, 15],
  choosesSeconds: false,
  defaultSeconds: 5,
  resolutions: [],
  defaultResolution: '2K',
  text: true,
  image: true,
  lastFrame: true,
  references: { images: 9, videos: 3, audios: 3, audioAlone: false },
}

export const invalid = (message: string): Refused => new Refused({ status: 400, message })

export function readGeneration(json: unknown): MinimaxOrder {
  if (!isObject(json)) throw invalid('invalid body')
  for (const key in json) if (!KEYS.includes(key)) throw invalid(`unknown parameter ${key}`)
  const model = text(json.model)
  const shortest = SHORTEST_SECONDS[model]
  if (shortest === undefined) throw invalid('invalid model')
  const content = readContent(json, CONTENT_RULES, 'mm_file')
  if ([...content.prompt].length > 7000) throw invalid('the text is too long')
  if (content.images + content.videos + content.audios > MOST_FILES) {
    throw invalid('too many files')
  }
  const seconds = json.duration ?? 5
  if (!isInteger(seconds, shortest, 15)) throw invalid('invalid duration')
  const resolution = text(json.resolution ?? '2K')
  if (!(resolution in SHORT_SIDES)) throw invalid('invalid resolution')
  const ratio = ratioOf(json)
  const [width, height] = sizeOf(resolution, ratio)
  const callbackUrl = json.callback_url === undefined ? undefined : text(json.callback_url)
  if (callbackUrl !== undefined && !/^https?:\/\//.test(callbackUrl)) {
    throw invalid('invalid callback_url')
  }
  return {
    model,
    resolution,
    ratio,
    width,
    height,
    seconds: Number(seconds),
    callbackUrl,
    prompt: promptOf(json),
    images: content.images,
    videos: content.videos,
  }
}

/** Text alone requires a concrete ratio; frames define it themselves. */
function ratioOf(json: Json): string {
  const items = objects(json.content)
  const textOnly = items.every((item) => item.type === 'text')
  const ratio = json.ratio === undefined ? (textOnly ? '16:9' : 'adaptive') : text(json.ratio)
  if (!RATIOS.includes(ratio)) throw invalid('invalid ratio')
  if (textOnly && ratio === 'adaptive') throw invalid('ratio must not be adaptive')
  return ratio === 'adaptive' ? '16:9' : ratio
}

/** The resolution gives the short side; both sides are even. */
export function sizeOf(resolution: string, ratio: string): [number, number] {
  const short = SHORT_SIDES[resolution] ?? 768
  const [across = 16, down = 9] = ratio.split(':').map(Number)
  const long = 2 * Math.round((short * Math.max(across, down)) / Math.min(across, down) / 2)
  return across >= down ? [long, short] : [short, long]
}
