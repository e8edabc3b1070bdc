/** The fields that a model accepts in a request, for clients that show a form. */
import type { VideoRules } from '../video/content.ts'

export interface ModelField {
  readonly name: string
  readonly type: 'string' | 'integer' | 'boolean' | 'array' | 'any'
  /** The only values; of a list, the kinds of its items. */
  readonly values?: readonly (string | number)[]
  readonly min?: number
  readonly max?: number
  /** A value outside the range that is taken too: -1 for a length that the model chooses. */
  readonly also?: number
  /** The value that counts where the caller sends none. */
  readonly default?: string | number | boolean
  readonly required: boolean
}

/** The rules of an image model, as far as they are known. */
export interface ImageRules {
  /** The most images that one call makes, and the most that it accepts. */
  readonly images?: number
  readonly inputImages?: number
  readonly sizes?: readonly string[]
  /** The vendor's own fields. */
  readonly fields?: readonly string[]
}

const RATIOS = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9']
const SEED_MAX = 2 ** 32 - 1
const IMAGES_MAX = 15
const SECONDS_DEFAULT = 5

/** Fields that only some models accept, by name; any other may have any value. */
const OTHERS: Readonly<Record<string, Omit<ModelField, 'name' | 'required'>>> = {
  seed: { type: 'integer', min: -1, max: SEED_MAX },
  generate_audio: { type: 'boolean', default: true },
  watermark: { type: 'boolean', default: false },
  camera_fixed: { type: 'boolean', default: false },
  return_last_frame: { type: 'boolean', default: false },
  prompt_extend: { type: 'boolean', default: true },
  multi_shot: { type: 'boolean' },
  draft: { type: 'boolean', default: false },
  frames: { type: 'integer', min: 1 },
  priority: { type: 'integer', min: 0, max: 9 },
  negative_prompt: { type: 'string' },
  safety_identifier: { type: 'string' },
}

function other(name: string): ModelField {
  const known = Object.hasOwn(OTHERS, name) ? OTHERS[name] : undefined
  return { name, type: 'any', ...known, required: false }
}

/** Describes a request for a video. */
export function describeVideoFields(rules: VideoRules): readonly ModelField[] {
  const { resolution, resolutions, ratios = RATIOS, fields = [], flex } = rules
  const own = fields.filter((name) => name !== 'service_tier').map(other)
  const tier: ModelField = {
    name: 'service_tier',
    type: 'string',
    values: ['default', 'flex'],
    default: 'default',
    required: false,
  }
  return [
    { name: 'content', type: 'array', values: rolesOf(rules), required: true },
    {
      name: 'resolution',
      type: 'string',
      values: resolutions,
      default: resolution,
      required: false,
    },
    {
      name: 'ratio',
      type: 'string',
      values: [...ratios, 'adaptive'],
      default: 'adaptive',
      required: false,
    },
    describeLength(rules),
    ...own,
    ...(flex ? [tier] : []),
  ]
}

function rolesOf(rules: VideoRules): readonly string[] {
  const { text, frames, referenceImages, referenceVideos, referenceAudios } = rules
  return [
    ...(text ? ['text'] : []),
    ...['first_frame', 'last_frame'].slice(0, frames),
    ...(referenceImages > 0 ? ['reference_image'] : []),
    ...(referenceVideos > 0 ? ['reference_video'] : []),
    ...(referenceAudios > 0 ? ['reference_audio'] : []),
  ]
}

function describeLength({ seconds, lengths, choosesDuration }: VideoRules): ModelField {
  const { min, max } = seconds
  const isMade = (one: number) => lengths?.includes(one) ?? (one >= min && one <= max)
  const usual = isMade(SECONDS_DEFAULT) ? SECONDS_DEFAULT : (lengths?.[0] ?? min)
  const chosen = choosesDuration ? { also: -1 } : {}
  const range = lengths ? { values: lengths } : { min, max }
  return { name: 'duration', type: 'integer', ...range, ...chosen, default: usual, required: false }
}

/** Describes a request for images. */
export function describeImageFields(rules: ImageRules): readonly ModelField[] {
  const { images = IMAGES_MAX, inputImages = 0, sizes, fields = [] } = rules
  return [
    { name: 'prompt', type: 'string', required: true },
    { name: 'n', type: 'integer', min: 1, max: images, default: 1, required: false },
    { name: 'size', type: 'string', ...(sizes ? { values: sizes } : {}), required: false },
    ...(inputImages > 0
      ? [{ name: 'image', type: 'array', max: inputImages, required: false } as const]
      : []),
    ...fields.map(other),
  ]
}
