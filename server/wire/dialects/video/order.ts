/** Reads a video request under the rules of a model, for drivers that write another form of it. */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { countCodePoints } from '../../../base/lib/text/count-code-points.ts'
import {
  type ContentProblem,
  contentOf,
  correctRules,
  findUntaken,
  judgeVideo,
  ROLE_OF_TYPE,
  sortContent,
  type VideoRules,
} from './content.ts'

export interface VideoRequest {
  readonly parameters: JsonObject
  readonly sentFields: ReadonlySet<string>
  readonly details: JsonObject
}

export interface VideoOrder {
  readonly prompt: string | undefined
  readonly media: readonly { readonly url: string; readonly role: string }[]
  readonly resolution: string
  /** The most seconds that may be billed, input videos included. */
  readonly seconds: number
  readonly audio: boolean
  readonly hasVideo: boolean
  /** The fields of `rules.fields` that the caller sent, as the caller wrote them. */
  readonly sent: JsonObject
}

/** Returns the order, or the first field that the model does not take. */
export function readVideoOrder(
  { parameters, sentFields, details }: VideoRequest,
  modelRules: VideoRules,
): VideoOrder | ContentProblem {
  const rules = correctRules(modelRules, details)
  const { fields = [], characters } = rules
  const found =
    judgeVideo(parameters, sentFields, rules) ??
    judgeText(parameters, characters) ??
    findUntaken(parameters, sentFields, fields) ??
    findUntakenInside(parameters) ??
    judgeRatio(parameters, rules)
  if (found) return found
  const content = contentOf(parameters)
  const { texts, videos } = sortContent(content)
  return {
    prompt: texts[0] || undefined,
    media: listMedia(content),
    resolution: sentFields.has('resolution') ? String(parameters.resolution) : rules.resolution,
    seconds: secondsOf(parameters, rules, videos > 0),
    audio: parameters.generate_audio !== false,
    hasVideo: videos > 0,
    sent: pickSent(parameters, sentFields, fields),
  }
}

function secondsOf({ duration }: JsonObject, rules: VideoRules, hasVideo: boolean): number {
  const { inputSeconds = 0, secondsWithVideo = Number.POSITIVE_INFINITY } = rules
  const seconds = duration === -1 ? rules.seconds.max : Number(duration)
  if (!hasVideo) return seconds
  return Math.max(seconds, Math.min(secondsWithVideo, seconds + inputSeconds))
}

function judgeRatio({ ratio }: JsonObject, { ratios }: VideoRules): ContentProblem | undefined {
  if (ratio === undefined || ratio === 'adaptive') return undefined
  if (ratios === undefined || ratios.includes(String(ratio))) return undefined
  const words = ['adaptive', ...ratios].join(', ')
  return { param: 'ratio', problem: `this model offers ${words}` }
}

/** Returns the problem of a text that is longer than the model takes. */
export function judgeText(
  parameters: JsonObject,
  most = Number.POSITIVE_INFINITY,
): ContentProblem | undefined {
  const { texts } = sortContent(contentOf(parameters))
  if (texts.every((text) => countCodePoints(text) <= most)) return undefined
  return { param: 'content', problem: `this model takes at most ${most} characters` }
}

/** Returns the address and the role of each picture, video and audio. */
export function listMedia(content: readonly unknown[]): VideoOrder['media'] {
  return content.flatMap((item) => {
    const type = asString(member(item, 'type')) ?? ''
    const url = asString(member(member(item, type), 'url'))
    if (url === undefined) return []
    return [{ url, role: asString(member(item, 'role')) ?? ROLE_OF_TYPE[type] ?? '' }]
  })
}

/** Returns the first member inside of an item other than its text, address and role. */
export function findUntakenInside(parameters: JsonObject): ContentProblem | undefined {
  for (const [index, item] of contentOf(parameters).filter(isObject).entries()) {
    const type = String(item.type)
    const media = isObject(item[type]) ? item[type] : {}
    const untaken = [
      ...Object.keys(item).filter((name) => !['type', 'role', type].includes(name)),
      ...Object.keys(media).flatMap((name) => (name === 'url' ? [] : [`${type}.${name}`])),
    ]
    const [first] = untaken
    if (first === undefined) continue
    return { param: `content[${index}].${first}`, problem: 'this model does not take it' }
  }
  return undefined
}

function pickSent(
  parameters: JsonObject,
  sentFields: ReadonlySet<string>,
  names: readonly string[],
): JsonObject {
  const isSent = (name: string) => sentFields.has(name) && parameters[name] !== null
  return Object.fromEntries(names.filter(isSent).map((name) => [name, parameters[name]]))
}
