/**
 * Sorts the content of a video request by its roles and checks it against the rules of a model
 * generation. The rules are data (`VideoRules`), which the adapters own.
 */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'

/** The rules of one generation of a video model. */
export interface VideoRules {
  readonly seconds: { readonly min: number; readonly max: number }
  /** The only lengths, where not every second between the two is made. */
  readonly lengths?: readonly number[]
  /** True where duration -1 lets the model choose. */
  readonly choosesDuration: boolean
  readonly resolutions: readonly string[]
  /** The resolution where the caller names none. */
  readonly resolution: string
  readonly text: boolean
  /** Most images that are frames: 0, 1 (first) or 2 (first and last). */
  readonly frames: 0 | 1 | 2
  readonly referenceImages: number
  readonly referenceVideos: number
  readonly referenceAudios: number
  /** Most media in all; absent without such a limit. */
  readonly media?: number
  /** True where audio may come without an image or a video. */
  readonly audioAlone: boolean
  /** True where a frame fixes the ratio, so that only `adaptive` is accepted with one. */
  readonly adaptiveWithFrame?: boolean
  /** True where the slower tier at half the price is offered. */
  readonly flex: boolean
  /** True where a finished draft can be made into a video. */
  readonly drafts?: boolean
  /** Schemes of the vendor's own handles for media; other handles are refused. */
  readonly handles?: readonly string[]
  /** Most characters of the text. */
  readonly characters?: number
  /** The ratios that a caller may name beside `adaptive`; absent: all of the request's schema. */
  readonly ratios?: readonly string[]
  /** Fields that are passed on, beside those of every model. */
  readonly fields?: readonly string[]
  /** Most seconds of input videos that are billed, and most seconds of both together. */
  readonly inputSeconds?: number
  readonly secondsWithVideo?: number
}

export interface SortedContent {
  readonly texts: readonly string[]
  readonly first: number
  readonly last: number
  readonly images: number
  readonly videos: number
  readonly audios: number
  readonly drafts: number
}

/** The field and the reason for which the model does not take a request. */
export interface ContentProblem {
  readonly param: string
  readonly problem: string
}

const COUNTED: Readonly<Record<string, 'images' | 'videos' | 'audios'>> = {
  reference_image: 'images',
  reference_video: 'videos',
  reference_audio: 'audios',
}
export const ROLE_OF_TYPE: Readonly<Record<string, string>> = {
  image_url: 'first_frame',
  video_url: 'reference_video',
  audio_url: 'reference_audio',
}

/** Counts items by role. An image without a role is a first frame. */
export function sortContent(content: readonly unknown[]): SortedContent {
  const texts: string[] = []
  const sorted = { texts, first: 0, last: 0, images: 0, videos: 0, audios: 0, drafts: 0 }
  for (const item of content) {
    const type = asString(member(item, 'type')) ?? ''
    if (type === 'text') {
      sorted.texts.push(asString(member(item, 'text')) ?? '')
      continue
    }
    if (type === 'draft_task') {
      sorted.drafts += 1
      continue
    }
    const role = asString(member(item, 'role')) ?? ROLE_OF_TYPE[type] ?? ''
    const counted = COUNTED[role]
    if (counted) sorted[counted] += 1
    else if (role === 'last_frame') sorted.last += 1
    else sorted.first += 1
  }
  return sorted
}

/** Returns the items of a request's content. */
export function contentOf({ content }: JsonObject): readonly unknown[] {
  return Array.isArray(content) ? content : []
}

/** Adds the only role of videos and audios, which callers may leave out and vendors require. */
export function nameRoles(content: readonly unknown[]): readonly unknown[] {
  return content.map((item) => {
    if (!isObject(item) || item.role !== undefined) return item
    const role = item.type === 'image_url' ? undefined : ROLE_OF_TYPE[String(item.type)]
    return role === undefined ? item : { ...item, role }
  })
}

/** Returns the first problem of a request under these rules; undefined without one. */
export function judgeVideo(
  parameters: JsonObject,
  sentFields: ReadonlySet<string>,
  rules: VideoRules,
): ContentProblem | undefined {
  const content = contentOf(parameters)
  const sorted = sortContent(content)
  return (
    judgeContent(sorted, rules) ??
    judgeHandles(content, rules) ??
    judgeSize(parameters, sentFields, rules) ??
    judgeRatio(parameters, sentFields, sorted, rules)
  )
}

function judgeContent(sorted: SortedContent, rules: VideoRules): ContentProblem | undefined {
  const refuse = (problem: string) => ({ param: 'content', problem })
  const { texts, first, last, images, videos, audios, drafts } = sorted
  const frames = first + last
  const references = images + videos + audios
  if (drafts > 0) {
    if (!rules.drafts) return refuse('this model makes no videos of drafts')
    const others = texts.length + first + last + images + videos + audios
    return drafts + others > 1
      ? refuse('a draft_task cannot be combined with other content')
      : undefined
  }
  if (texts.length > 1) return refuse('only one text item')
  if (frames + references === 0) {
    if (texts.length === 0) return refuse('needs text or an image')
    return rules.text ? undefined : refuse('this model needs an image')
  }
  if (frames > 0 && references > 0) {
    return refuse('first and last frames cannot be combined with references')
  }
  return frames > 0 ? judgeFrames(sorted, rules) : judgeReferences(sorted, rules)
}

const HANDLE = /^(asset|mm_file):/i

function judgeHandles(content: readonly unknown[], { handles = [] }: VideoRules) {
  for (const [index, item] of content.entries()) {
    const type = asString(member(item, 'type')) ?? ''
    const url = asString(member(member(item, type), 'url')) ?? ''
    const scheme = HANDLE.exec(url)?.[1]?.toLowerCase()
    if (scheme === undefined || handles.includes(scheme)) continue
    return {
      param: `content[${index}].${type}.url`,
      problem: `this model takes no ${scheme}:// URL`,
    }
  }
  return undefined
}

/** Fields that every video model takes, or that the gateway handles itself. */
const ALWAYS_TAKEN: ReadonlySet<string> = new Set([
  'model',
  'content',
  'resolution',
  'ratio',
  'duration',
  'service_tier',
  'callback_url',
  'safety_identifier',
])
/** Values that request nothing, so that a model without the field serves them too. */
const NEUTRAL: Readonly<Record<string, unknown>> = {
  seed: -1,
  generate_audio: true,
  return_last_frame: false,
  camera_fixed: false,
  watermark: false,
  draft: false,
  priority: 0,
}

/**
 * Returns the first field that the caller sent and the model does not take: nothing is dropped in
 * silence. `taken` are the fields that the upstream passes on. A silent model serves a request for
 * no sound.
 */
export function findUntaken(
  parameters: JsonObject,
  sentFields: ReadonlySet<string>,
  taken: readonly string[],
  isSilent = false,
): ContentProblem | undefined {
  for (const param of sentFields) {
    if (isSilent && param === 'generate_audio') continue
    if (ALWAYS_TAKEN.has(param) || taken.includes(param)) continue
    const value = parameters[param]
    if (value === undefined || value === null || value === NEUTRAL[param]) continue
    return { param, problem: refusalOf([...SHOWN, ...taken]) }
  }
  return undefined
}

const SHOWN = ['content', 'resolution', 'ratio', 'duration']

/** Returns the words that refuse a field, with those that the model takes. */
export function refusalOf(taken: readonly string[]): string {
  return `this model does not take it; it takes ${taken.join(', ')}`
}

function judgeFrames({ first, last }: SortedContent, rules: VideoRules) {
  const refuse = (problem: string) => ({ param: 'content', problem })
  if (rules.frames === 0) return refuse('this model takes no frames')
  if (first > 1 || last > 1) return refuse('two images need the roles first_frame and last_frame')
  if (first === 0) return refuse('a last_frame needs a first_frame')
  if (last === 1 && rules.frames < 2) return refuse('this model takes no last_frame')
  return undefined
}

function judgeReferences({ images, videos, audios }: SortedContent, rules: VideoRules) {
  const refuse = (problem: string) => ({ param: 'content', problem })
  const kinds = [
    { name: 'reference images', count: images, most: rules.referenceImages },
    { name: 'videos', count: videos, most: rules.referenceVideos },
    { name: 'audios', count: audios, most: rules.referenceAudios },
  ]
  for (const { name, count, most } of kinds) {
    if (count > most)
      return refuse(`this model takes ${most === 0 ? 'no' : `at most ${most}`} ${name}`)
  }
  if (images + videos + audios > (rules.media ?? Number.POSITIVE_INFINITY)) {
    return refuse(`this model takes at most ${rules.media} media in all`)
  }
  if (audios > 0 && images + videos === 0 && !rules.audioAlone) {
    return refuse('audio needs a reference image or video beside it')
  }
  return undefined
}

function judgeSize(
  { resolution, duration, service_tier: tier }: JsonObject,
  sentFields: ReadonlySet<string>,
  rules: VideoRules,
): ContentProblem | undefined {
  if (sentFields.has('resolution') && !rules.resolutions.includes(String(resolution))) {
    return { param: 'resolution', problem: `this model offers ${rules.resolutions.join(', ')}` }
  }
  if (tier === 'flex' && !rules.flex) {
    return { param: 'service_tier', problem: "this model offers only 'default'" }
  }
  if (typeof duration !== 'number') return undefined
  if (duration === -1) {
    if (rules.choosesDuration) return undefined
    return { param: 'duration', problem: 'this model does not choose the length: name it' }
  }
  const { lengths, seconds } = rules
  if (lengths) {
    if (lengths.includes(duration)) return undefined
    return { param: 'duration', problem: `this model makes ${listOf(lengths)} seconds` }
  }
  const { min, max } = seconds
  if (duration >= min && duration <= max) return undefined
  return { param: 'duration', problem: `this model makes ${min} to ${max} seconds` }
}

function judgeRatio(
  { ratio }: JsonObject,
  sentFields: ReadonlySet<string>,
  { first }: SortedContent,
  rules: VideoRules,
): ContentProblem | undefined {
  const fixed = sentFields.has('ratio') && ratio !== 'adaptive'
  if (!fixed || first === 0 || !rules.adaptiveWithFrame) return undefined
  return { param: 'ratio', problem: "with a first frame this model takes only 'adaptive'" }
}

/** Returns the adapter's rules, each replaced by the catalog's where the operator set one. */
export function correctRules(rules: VideoRules, details: JsonObject): VideoRules {
  const own = details.video
  return isObject(own) ? { ...rules, ...own } : rules
}

/** Writes 4, 6 or 8. The lengths may be in another order: the first is the default. */
function listOf(lengths: readonly number[]): string {
  const sorted = lengths.toSorted((a, b) => a - b)
  return [sorted.slice(0, -1).join(', '), sorted.at(-1)].filter(Boolean).join(' or ')
}
