// Checks the requests of both generations. For a name that the older generation does not know, the
// vendor silently uses its first model; here the name is refused, so that a mistake is noticed.
import { createHmac } from 'node:crypto'
import { isInteger, isObject, type Json, objects, text } from '../kernel/checks.ts'
import { Refused } from '../kernel/exchange.ts'

export interface KlingOrder {
  model: string
  prompt: string
  resolution: string
  ratio: string
  seconds: number
  audio: boolean
  externalId: string
}

function invalid(message: string): Refused {
  return new Refused({ status: 400, code: '1201', message })
}

export function promptOf(json: unknown): string {
  if (!isObject(json)) return ''
  const part = objects(json.contents).find(({ type }) => type === 'prompt')
  return text(json.prompt) || text(part?.text)
}

function checkSeconds(model: string, seconds: unknown): number {
  const isLong = model.includes('3.0') || model.includes('v3')
  const isGood = isLong ? isInteger(seconds, 3, 15) : seconds === 5 || seconds === 10
  if (!isGood) throw invalid('duration is invalid')
  return Number(seconds)
}

const NEWER = 'prompt contents settings options'.split(' ')
const SETTINGS = 'resolution aspect_ratio duration audio multi_shot'.split(' ')

export function readNewer(json: unknown, model: string): KlingOrder {
  if (!isObject(json)) throw invalid('an object is expected')
  if (!/^kling-(?:3\.0|3\.0-turbo|2\.6|2\.5-turbo)$/.test(model)) throw invalid('unknown model')
  refuseOthers(json, NEWER)
  const settings = isObject(json.settings) ? json.settings : {}
  refuseOthers(settings, SETTINGS)
  const {
    resolution = '720p',
    duration = 5,
    audio = 'off',
    aspect_ratio: ratio = '16:9',
  } = settings
  if (!['720p', '1080p', '4k'].includes(text(resolution))) throw invalid('resolution is invalid')
  if (audio === 'native' && model === 'kling-2.6' && resolution !== '1080p') {
    throw invalid('native audio needs 1080p')
  }
  if (model === 'kling-3.0-turbo' && settings.audio !== undefined) throw invalid('no audio here')
  const options = isObject(json.options) ? json.options : {}
  const prompt = promptOf(json)
  if (prompt === '' && objects(json.contents).length === 0) throw invalid('prompt is required')
  return {
    model,
    prompt,
    resolution: text(resolution),
    ratio: text(ratio),
    seconds: checkSeconds(model, duration),
    audio: audio === 'native' || model === 'kling-3.0-turbo',
    externalId: text(options.external_task_id),
  }
}

const OLDER =
  `model_name prompt negative_prompt image image_tail mode duration aspect_ratio sound multi_shot
  cfg_scale watermark_info callback_url external_task_id`.split(/\s+/)
const SIDES: Record<string, string> = { std: '720p', pro: '1080p', '4k': '4k' }

export function readOlder(json: unknown, needsImage: boolean): KlingOrder {
  if (!isObject(json)) throw invalid('an object is expected')
  refuseOthers(json, OLDER)
  const model = text(json.model_name)
  if (!/^kling-v(?:1(?:-[56])?|2(?:-[156])?(?:-turbo|-master)?|3)$/.test(model)) {
    throw invalid('unknown model_name')
  }
  const { duration = '5', mode = 'std', sound = 'off', aspect_ratio: ratio = '16:9' } = json
  if (typeof duration !== 'string') throw invalid('duration must be a text')
  const resolution = SIDES[text(mode)]
  if (resolution === undefined) throw invalid('mode is invalid')
  const image = text(json.image)
  if (image.startsWith('data:')) throw invalid('image must be an address, or base64 alone')
  if (needsImage && image === '') throw invalid('image is required')
  if (!needsImage && text(json.prompt) === '') throw invalid('prompt is required')
  return {
    model,
    prompt: text(json.prompt),
    resolution,
    ratio: text(ratio),
    seconds: checkSeconds(model, Number(duration)),
    audio: sound === 'on',
    externalId: text(json.external_task_id),
  }
}

function refuseOthers(json: Json, known: readonly string[]): void {
  const other = Object.keys(json).find((name) => !known.includes(name))
  if (other !== undefined) throw invalid(`unknown parameter ${other}`)
}

/** Returns the reason for which a token is refused; undefined for a good one. */
export function refusalOfToken(
  token: string,
  keys: ReadonlyMap<string, string>,
): string | undefined {
  const [head = '', body = '', signature = ''] = token.split('.')
  let claims: Json = {}
  try {
    claims = JSON.parse(Buffer.from(body, 'base64url').toString())
  } catch {
    return 'api key not found'
  }
  const secret = keys.get(text(claims.iss))
  if (secret === undefined) return 'api key not found'
  const signed = createHmac('sha256', secret).update(`${head}.${body}`).digest('base64url')
  if (signed !== signature) return 'signature is invalid'
  if (claims.iat !== undefined) return 'iat is not taken'
  const now = Date.now() / 1000
  if (Number(claims.nbf) > now) return 'the token is not valid yet'
  return Number(claims.exp) < now ? 'the token has expired' : undefined
}
