/** Reads an order under the rules of a model, which its template and its `details` state. */
import { isObject, type JsonObject } from '../../../base/lib/json.ts'
import type { VideoRules } from '../../dialects/video/content.ts'
import type { VideoOrder } from '../../dialects/video/order.ts'
import { UpstreamFailure } from '../failure.ts'
import { prepareVideo, takeVideoOrder } from '../rest-tasks.ts'
import type { PreparedTask, TaskAttempt, TaskOrder } from '../task-driver.ts'
import { formOf } from './presets.ts'
import { listNames, renderUrl, type Values } from './render.ts'
import { bodyTemplate, type MediaSettings } from './settings.ts'

type Order = TaskOrder<MediaSettings>

const MEDIA = [
  'first_frame',
  'last_frame',
  'reference_image',
  'reference_video',
  'reference_audio',
] as const
/** Placeholders with a value of the gateway's. */
const GATEWAY: ReadonlySet<string> = new Set([
  'upstream_model',
  'upstream_app',
  'attempt',
  'callback_url',
  'id',
])
/** Placeholders that are no fields of a request. */
const OWN: ReadonlySet<string> = new Set([
  ...GATEWAY,
  'prompt',
  ...MEDIA.flatMap((role) => [role, `${role}s`]),
])
const USUAL: ReadonlySet<string> = new Set(['resolution', 'ratio', 'duration'])

/**
 * The widest rules, which a model narrows by its `details.video` and by the fields that its body
 * does not name.
 */
const WIDE: VideoRules = {
  seconds: { min: 1, max: 60 },
  choosesDuration: false,
  resolutions: ['480p', '720p', '1080p', '4k'],
  resolution: '720p',
  text: true,
  frames: 2,
  referenceImages: 10,
  referenceVideos: 0,
  referenceAudios: 0,
  audioAlone: false,
  flex: false,
}

/** Returns the template of the request's body: the model's own, else that of the channel. */
export function bodyOf({ settings, details }: Pick<Order, 'settings' | 'details'>): JsonObject {
  const { media } = details
  if (!isObject(media) || media.body === undefined) return formOf(settings).template.submit.body
  const read = bodyTemplate.safeParse(media.body)
  if (read.success) return read.data
  throw new UpstreamFailure('channel_fault', { message: 'details.media.body must be an object' })
}

/** A body accepts the fields that it names. */
export function mediaRulesOf(order: Pick<Order, 'settings' | 'details'>): VideoRules {
  const { template } = formOf(order.settings)
  const names = new Set([...listNames(bodyOf(order)), ...listNames(template.submit.path)])
  const own = isObject(order.details.video) ? (order.details.video as Partial<VideoRules>) : {}
  const rules = { ...WIDE, ...own }
  const takes = (role: string) => names.has(role) || names.has(`${role}s`)
  const { resolution, resolutions } = rules
  const frames = takes('last_frame') ? 2 : takes('first_frame') ? 1 : 0
  return {
    ...rules,
    text: rules.text && names.has('prompt'),
    frames: Math.min(rules.frames, frames) as VideoRules['frames'],
    referenceImages: takes('reference_image') ? rules.referenceImages : 0,
    referenceVideos: takes('reference_video') ? rules.referenceVideos : 0,
    referenceAudios: takes('reference_audio') ? rules.referenceAudios : 0,
    resolutions: names.has('resolution') ? resolutions : [resolution],
    ...(names.has('ratio') ? {} : { ratios: [] }),
    fields: [...names].filter((name) => !OWN.has(name) && !USUAL.has(name)),
  }
}

/** Returns the order with the model's own length, where the caller names none, and its contents. */
function read(submitted: Order): { readonly order: Order; readonly video: VideoOrder } {
  const rules = mediaRulesOf(submitted)
  const { lengths = [], seconds } = rules
  const { parameters, sentFields } = submitted
  const isMade = (one: number) =>
    lengths.length > 0 ? lengths.includes(one) : one >= seconds.min && one <= seconds.max
  const keeps = sentFields.has('duration') || isMade(Number(parameters.duration))
  const duration = keeps ? parameters.duration : (lengths[0] ?? seconds.min)
  // The rules have been narrowed by the template: the details must not widen them again.
  const order = { ...submitted, parameters: { ...parameters, duration }, details: {} }
  return { order, video: takeVideoOrder(order, rules) }
}

export function prepareMedia(submitted: Order): PreparedTask {
  const { order, video } = read(submitted)
  refusePath(submitted)
  const names = listNames(bodyOf(submitted))
  const audio = names.has('generate_audio') && video.audio
  const prepared = prepareVideo(order, { ...video, audio })
  const own = Object.entries(video.sent).flatMap(([name, value]) => {
    return isScalar(value) ? [[name, value] as const] : []
  })
  return { ...prepared, facts: { ...Object.fromEntries(own), ...prepared.facts } }
}

/** Throws a refusal that names the field, if the fields of a request do not yield an address. */
function refusePath(submitted: Order): void {
  const { baseUrl, template } = formOf(submitted.settings)
  const { path } = template.submit
  const names = [...listNames(path.split('?')[0])].filter((name) => !GATEWAY.has(name))
  if (names.length === 0) return
  const values = placeholdersOf(submitted, { id: 'attempt', vendorCallbackUrl: undefined })
  try {
    renderUrl(baseUrl, path, values)
  } catch (error) {
    if (!(error instanceof UpstreamFailure) || error.kind === 'rejected') throw error
    const param = names.find((name) => values.get(name) === undefined) ?? names[0]
    const message = `${param}: the path of this model’s requests needs a value`
    throw new UpstreamFailure('rejected', { status: 400, message, param })
  }
}

const isScalar = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value)

/** Returns the values of placeholders: fields by their own names, content by its roles. */
export function placeholdersOf(submitted: Order, attempt: TaskAttempt): Values {
  const { order, video } = read(submitted)
  const { ratio, duration, seed } = order.parameters
  const urls = (role: string) => video.media.flatMap((one) => (one.role === role ? [one.url] : []))
  const media = MEDIA.flatMap((role): [string, unknown][] => {
    const [first] = urls(role)
    return [
      [role, first],
      [`${role}s`, first === undefined ? undefined : urls(role)],
    ]
  })
  return new Map<string, unknown>([
    ...Object.entries(video.sent),
    ...media,
    ['prompt', video.prompt],
    ['resolution', video.resolution],
    ['ratio', ratio === 'adaptive' ? undefined : ratio],
    ['duration', duration],
    ['generate_audio', video.audio],
    ['seed', seed === -1 ? undefined : seed],
    ['upstream_model', order.upstreamModel],
    ['upstream_app', appOf(order.upstreamModel)],
    ['attempt', attempt.id],
    ['callback_url', attempt.vendorCallbackUrl],
  ])
}

/** Returns a model's owner and name, without the path of one of its services. */
export function appOf(upstreamModel: string): string {
  return upstreamModel.split('/').slice(0, 2).join('/')
}
