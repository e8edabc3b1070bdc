/** Reads the request of both APIs for video tasks: each field with its rule and default. */
import { z } from 'zod'
import { invalidField } from '../../../base/lib/errors.ts'
import { asString, isAbsent, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { InvalidRequest } from '../../../wire/dialects/invalid-request.ts'
import { contentOf } from '../../../wire/dialects/video/content.ts'
import type { Body, RequestParts } from '../../../work/pipeline/metering.ts'
import { listSpellings, refuseOtherCase } from '../../../work/pipeline/request/spellings.ts'
import type { NamedUrl, SourceTask } from '../../../work/tasks/submission.ts'
import { callbackUrl } from '../callback-url.ts'

/** Members of a result in the neutral form of all video drivers. */
export const VIDEO_RESULT_FIELDS = [
  'video_url',
  'last_frame_url',
  'duration',
  'resolution',
  'ratio',
  'seed',
] as const

const SEED_MAX = 2 ** 32 - 1

const TOOLS_MAX = 8

const IMAGE_ROLES = ['first_frame', 'last_frame', 'reference_image']
const ROLES: Readonly<Record<string, readonly string[]>> = {
  text: [],
  image_url: IMAGE_ROLES,
  video_url: ['reference_video'],
  audio_url: ['reference_audio'],
}
const MEDIA_URL = /^(?:https?:\/\/|data:(?:image|video|audio)\/|(?:asset|mm_file):\/\/)/i

const media = z
  .looseObject({
    url: z
      .string()
      .min(1)
      .refine((url) => MEDIA_URL.test(url), {
        error: 'must be an http(s), data:, asset:// or mm_file:// URL',
      }),
  })
  .optional()

const MEDIA_TYPES = ['image_url', 'video_url', 'audio_url', 'draft_task'] as const

const contentItem = z
  .looseObject({
    type: z.enum(['text', ...MEDIA_TYPES]),
    text: z
      .string()
      .optional()
      .describe('The prompt; at most 500 Chinese characters are recommended.'),
    image_url: media,
    video_url: media.describe('Only for generation 2.0 models and later.'),
    audio_url: media.describe('Only for generation 2.0 models and later.'),
    draft_task: z
      .looseObject({ id: z.string().min(1) })
      .optional()
      .describe(
        'Your own finished draft, from which the model makes the video; no other content is ' +
          'allowed.',
      ),
    role: z
      .enum([...IMAGE_ROLES, 'reference_video', 'reference_audio'])
      .optional()
      .describe('Position or purpose of an image, video or audio.'),
  })
  .check(({ value, issues }) => {
    const refuse = (field: string, message: string) =>
      issues.push({ code: 'custom', input: value, path: [field], message })
    const payload = value[value.type]
    if (payload === undefined || payload === '') refuse(value.type, 'required')
    // A member that one vendor ignores may make another vendor produce, and bill, a different
    // video.
    const stray = MEDIA_TYPES.find((name) => name !== value.type && !isAbsent(value[name]))
    if (stray) refuse(stray, `belongs in an item of type ${stray}`)
    const roles = ROLES[value.type] ?? []
    if (value.role !== undefined && !roles.includes(value.role)) {
      const known = roles.length > 0 ? `one of ${roles.join(', ')}` : 'absent'
      refuse('role', `of this item must be ${known}`)
    }
  })

export const videoRequest = z.looseObject({
  model: z.string().min(1).describe('From GET /v1/models?type=video.'),
  content: z.array(contentItem).min(1, 'needs at least one item').max(64),
  resolution: z
    .string()
    .max(16)
    .default('720p')
    .describe('480p, 720p, 1080p, 4k, 768P or 2K: GET /v1/models/{id} has those of the model.'),
  ratio: z.enum(['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive']).default('adaptive'),
  duration: z
    .int()
    .refine((seconds) => seconds === -1 || seconds > 0, {
      error: 'must be at least 1 second, or -1',
    })
    .default(5)
    .describe('Seconds; -1 lets the model choose.'),
  seed: z.int().min(-1).max(SEED_MAX).default(-1),
  generate_audio: z
    .boolean()
    .default(true)
    .describe('Generates matching speech, effects and music.'),
  return_last_frame: z.boolean().default(false).describe('Also returns the last frame, as png.'),
  camera_fixed: z.boolean().default(false),
  watermark: z.boolean().default(false),
  service_tier: z.enum(['default', 'flex']).default('default'),
  callback_url: callbackUrl,
  safety_identifier: z.string().max(64).optional().describe('A hash of your user’s id.'),
  execution_expires_after: z.int().min(3600).max(259_200).optional(),
  draft: z.boolean().optional().describe('A cheaper preview, for models that support it.'),
  priority: z.int().min(0).max(9).optional(),
  tools: z
    .array(z.looseObject({ type: z.string().max(64) }))
    .max(TOOLS_MAX)
    .optional(),
})

/** Members that the gateway adds from a draft. */
const OWN_MEMBERS = ['draft_seconds', 'source_channel']
const ITEM_SPELLINGS = listSpellings(Object.keys(contentItem.shape))
const MEDIA_SPELLINGS = listSpellings(['url', 'id'])

/**
 * Throws for members that only the gateway may set, and for those of content in another letter
 * case: a vendor that reads them would make, and bill, something else than was priced.
 */
export function checkVideoRequest({ value }: RequestParts): void {
  const own = OWN_MEMBERS.find((name) => Object.hasOwn(value, name))
  if (own) throw new InvalidRequest(own, 'unknown field')
  for (const [index, item] of contentOf(value).entries()) {
    if (!isObject(item)) continue
    const at = `content[${index}]`
    refuseOtherCase(item, ITEM_SPELLINGS, at)
    for (const [name, inner] of Object.entries(item)) {
      if (isObject(inner)) refuseOtherCase(inner, MEDIA_SPELLINGS, `${at}.${name}`)
    }
  }
}

export function readVideoParameters(value: Body): JsonObject {
  return videoRequest.parse(value)
}

/** Returns the id of the draft that the video is made of; undefined for other requests. */
export function readDraftId(parameters: JsonObject): string | undefined {
  return asString(member(member(contentOf(parameters).find(isDraft), 'draft_task'), 'id'))
}

function isDraft(item: unknown): boolean {
  return member(item, 'type') === 'draft_task'
}

/**
 * Returns the parameters with the vendor's id of the draft. Throws 400 if the task is not a draft.
 */
export function useDraft(parameters: JsonObject, draft: SourceTask): JsonObject {
  const refuse = (problem: string) => invalidField('content', `the draft_task ${problem}`)
  if (draft.kind !== 'video' || draft.request.draft !== true) throw refuse('is not a draft')
  if (draft.state !== 'succeeded') throw refuse('has not succeeded')
  if (draft.model !== parameters.model) throw refuse(`was made by '${draft.model}'`)
  return {
    ...parameters,
    content: contentOf(parameters).map((item) =>
      isDraft(item) ? { type: 'draft_task', draft_task: { id: draft.upstream_id } } : item,
    ),
    // The video has the sound of its draft, whatever the request says.
    generate_audio: draft.request.generate_audio ?? parameters.generate_audio,
    draft_seconds: draft.result?.duration,
    source_channel: draft.channel_id,
  }
}

/**
 * Returns the parameters that are stored with the task, without prompts and media: of its content,
 * only what each item is.
 */
export function keepVideoParameters(parameters: JsonObject): JsonObject {
  const kept = [
    ...VIDEO_RESULT_FIELDS,
    'generate_audio',
    'service_tier',
    'safety_identifier',
    'execution_expires_after',
    'priority',
    'draft',
  ]
  const { tools } = parameters
  return {
    ...Object.fromEntries(
      kept.flatMap((name) => (parameters[name] === undefined ? [] : [[name, parameters[name]]])),
    ),
    content: contentOf(parameters).map((item) => ({ type: member(item, 'type') })),
    ...(Array.isArray(tools)
      ? { tools: tools.map((tool) => ({ type: member(tool, 'type') })) }
      : {}),
  }
}

/** Returns the addresses of media that the vendor will fetch. */
export function listMediaUrls(parameters: JsonObject): readonly NamedUrl[] {
  return contentOf(parameters).flatMap((item, index) => {
    if (!isObject(item)) return []
    const type = String(item.type)
    const url = member(item[type], 'url')
    if (typeof url !== 'string' || !/^https?:/i.test(url)) return []
    return [{ field: `content[${index}].${type}.url`, url }]
  })
}
