/**
 * A channel's settings: the address, the key, and the form of the vendor's API as data, by a preset
 * or by a template of the operator's (docs/guides/media-tasks.md).
 */
import { z } from 'zod'
import { baseUrl, refuseVersionPath } from '../shared-settings.ts'
import { listNames } from './render.ts'

const POINTER = /^(?:\/[^/]{0,200}){1,20}$/
const pointer = z.string().regex(POINTER, 'must be a JSON pointer such as "/data/id"')
const pointers = z.union([pointer.transform((one) => [one]), z.array(pointer).min(1).max(20)])

/** A path below the address, which no placeholder can leave. */
const path = z
  .string()
  .max(500)
  .regex(/^\/(?![/\\])[^\\#\s]*$/, 'must be a path that begins with one "/"')
  .refine((text) => !text.split(/[/?&]/).some((part) => part === '.' || part === '..'), {
    error: 'must not have "." or ".." for a part',
  })
/** A path about a task: an unknown placeholder has no value, so that no request would be sent. */
const pathAbout = (...names: readonly string[]) =>
  path.refine((text) => [...listNames(text)].every((name) => names.includes(name)), {
    error: `only ${names.map((name) => `{{${name}}}`).join(', ')} have a value here`,
  })
const taskPath = pathAbout('id', 'upstream_model', 'upstream_app')
const method = z.enum(['GET', 'POST', 'PUT', 'DELETE'])
/** A member of the answer, or one of its headers. */
const figure = z.union([
  pointer,
  z.string().regex(/^header:[a-z][a-z0-9-]{0,80}$/, 'a header such as "header:x-units"'),
])

export const bodyTemplate = z.record(z.string(), z.json())

const STATES = ['queued', 'processing', 'succeeded', 'failed', 'expired', 'cancelled'] as const

export const mediaTemplate = z.strictObject({
  /** The word before the key. */
  auth: z
    .string()
    .regex(/^\w{1,20}$/)
    .default('Bearer'),
  submit: z.strictObject({
    method: method.default('POST'),
    path,
    body: bodyTemplate,
    /** The task's id in the answer; the first that is there. */
    id: pointers.default(['/id', '/request_id', '/task_id']),
  }),
  poll: z.strictObject({
    path: taskPath,
    status: pointer.default('/status'),
    /** The vendor's status words by meaning; common words are built in. */
    states: z.partialRecord(z.enum(STATES), z.array(z.string()).max(20)).default({}),
    /** The reason of a failed task. */
    error: pointers.default(['/error/message', '/error', '/message', '/detail']),
  }),
  /** The video, or the request that returns it. */
  output: z.union([
    pointers.transform((url) => ({ path: undefined, url })),
    z.strictObject({ path: taskPath, url: pointers }),
  ]),
  cancel: z.strictObject({ method: method.default('POST'), path: taskPath }).optional(),
  /** A look-up by the gateway's own id; with `items` and `created_at`, in the vendor's list. */
  recover: z
    .strictObject({
      path: pathAbout('attempt', 'upstream_model', 'upstream_app'),
      id: pointer.default('/id'),
      items: pointer.optional(),
      created_at: pointer.optional(),
      next: pointer.optional(),
    })
    .optional(),
  /** The figures that the vendor states as billed, by unit. */
  usage: z.partialRecord(z.enum(['second', 'vendor_cost']), figure).default({}),
  /** A free request that tests the key; without one, a task that does not exist is read. */
  probe: taskPath.optional(),
  /** The task's id in a callback to `{{callback_url}}`. */
  callback: pointer.optional(),
})

export type MediaTemplate = z.output<typeof mediaTemplate>

export const PRESET_NAMES = ['fal', 'replicate', 'openrouter'] as const

export const mediaSettings = z
  .strictObject({
    base_url: baseUrl().optional(),
    api_key: z.string().min(1),
    preset: z.enum(PRESET_NAMES).optional(),
    template: mediaTemplate.optional(),
    /** True to let the vendor notify a callback URL of the gateway, in addition to polling. */
    callbacks: z.boolean().default(true),
    /**
     * False if the vendor's figure is in its own unit: the seconds ordered are then charged. By
     * default this is so only for fal, whose unit differs by model.
     */
    stated_usage: z.boolean().optional(),
  })
  .refine(({ preset, template }) => (preset === undefined) !== (template === undefined), {
    error: 'needs a preset, or a template of your own',
    path: ['preset'],
  })
  .refine(({ preset, base_url: url }) => preset !== undefined || url !== undefined, {
    error: 'a template needs a base_url',
    path: ['base_url'],
  })
  .superRefine(({ preset, base_url: url }, context) => {
    const message = preset && refuseVersionPath(url)
    if (message) context.addIssue({ code: 'custom', path: ['base_url'], message })
  })

export type MediaSettings = z.infer<typeof mediaSettings>
