// Checks the requests for videos and images. What the vendor finds only once a task runs (frames
// beside references, for one) is accepted here too.
import { isInteger, isObject, type Json, objects, text } from '../kernel/checks.ts'
import { Refused } from '../kernel/exchange.ts'

export interface WanOrder {
  model: string
  prompt: string
  resolution: string
  ratio: string
  seconds: number
  videos: number
  /** Both frames and references: the task fails. */
  mixed: boolean
}

export interface PictureOrder {
  model: string
  prompt: string
  count: number
  width: number
  height: number
}

const TYPES = 'first_frame last_frame reference_image reference_video reference_audio video'.split(
  ' ',
)
const SECONDS: Record<string, [number, number]> = {
  'wan3.0': [2, 30],
  'wan2.7': [2, 15],
}
const CHOSEN_SECONDS = 8

function invalid(message: string): Refused {
  return new Refused({ status: 400, code: 'InvalidParameter', message })
}

export const promptOf = (json: unknown): string => {
  const input = isObject(json) ? json.input : undefined
  if (!isObject(input)) return ''
  const [first] = objects(input.messages)
  const parts = objects(first?.content)
  return text(input.prompt) || parts.map((part) => text(part.text)).join('')
}

export function readWan(json: unknown): WanOrder {
  if (!isObject(json) || !isObject(json.input)) throw invalid('input is required')
  const model = text(json.model)
  const range = SECONDS[model.slice(0, 6)]
  if (!range) {
    throw new Refused({ status: 404, code: 'ModelNotFound', message: 'Model not exist.' })
  }
  const parameters = isObject(json.parameters) ? json.parameters : {}
  const media = objects(json.input.media)
  for (const one of media) checkMedium(one)
  const prompt = text(json.input.prompt)
  if (prompt === '' && media.length === 0) throw invalid('prompt or media is required')
  const { duration = 5, resolution = '1080P', ratio = 'adaptive' } = parameters
  const chooses = duration === -1 && model.startsWith('wan3')
  if (!chooses && !isInteger(duration, ...range)) throw invalid('duration is out of range')
  if (!['480P', '720P', '1080P'].includes(text(resolution))) throw invalid('invalid resolution')
  const frames = media.filter(({ type }) => text(type).endsWith('_frame'))
  return {
    model,
    prompt,
    resolution: text(resolution),
    ratio: text(ratio) === 'adaptive' ? '16:9' : text(ratio),
    seconds: chooses ? CHOSEN_SECONDS : Number(duration),
    videos: media.filter(({ type }) => type === 'reference_video' || type === 'video').length,
    mixed: frames.length > 0 && frames.length < media.length,
  }
}

function checkMedium({ type, url }: Json): void {
  if (!TYPES.includes(text(type))) throw invalid('invalid media.type')
  const isVideo = text(type).endsWith('video') || text(type) === 'reference_audio'
  const scheme = isVideo ? /^(?:https?|oss):/ : /^(?:https?|oss|data):/
  if (!scheme.test(text(url)))
    throw new Refused({ status: 400, code: 'InvalidURL', message: 'url' })
}

export function readPicture(json: unknown): PictureOrder {
  if (!isObject(json) || !isObject(json.input)) throw invalid('input is required')
  const prompt = promptOf(json)
  if (prompt === '') throw invalid('a text is required')
  const { n = 1, size = '1024*1024' } = isObject(json.parameters) ? json.parameters : {}
  if (!isInteger(n, 1, 6)) throw invalid('n must be between 1 and 6')
  const named = { '1K': '1024*1024', '2K': '2048*2048', '4K': '4096*4096' }[text(size)]
  const [, width, height] = /^(\d{3,4})\*(\d{3,4})$/.exec(named ?? text(size)) ?? []
  if (!width || !height) throw invalid('size must be a width*height')
  return {
    model: text(json.model),
    prompt,
    count: Number(n),
    width: Number(width),
    height: Number(height),
  }
}
