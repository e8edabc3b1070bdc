// Checks POST /contents/generations/tasks and reads the order of a task. Fields of the body are
// checked strictly; the legacy form, parameters after the prompt (`--dur 5`), is read leniently.
import { isInteger, isObject, type Json, text } from '../kernel/checks.ts'
import { type Content, promptOf, readContent } from './content.ts'
import { type Family, familyOf, RATIOS, sizeOf } from './families.ts'
import { invalid, missing, unknownMediaModel, unsupported } from './refusals.ts'

export interface VideoOrder {
  model: string
  family: Family
  content: Content
  resolution: string
  ratio: string
  width: number
  height: number
  /** With `frames`, 24 frames are a second. */
  frames: number
  /** Undefined if the length was given in frames. */
  seconds: number | undefined
  seed: number
  sound: boolean
  draft: boolean
  callbackUrl: string | undefined
  lastFrame: boolean
  /** Time until the task expires. */
  lifeSeconds: number
  echoes: Json
}

/** The length chosen by a model that may choose. */
const CHOSEN_SECONDS = 8
const FLAGS = ['return_last_frame', 'generate_audio', 'draft', 'camera_fixed', 'watermark']
const FIRST_GENERATION_ONLY = ['seed', 'camera_fixed', 'frames']

export function readVideo(json: unknown): VideoOrder {
  if (!isObject(json)) throw invalid('body')
  const { model } = json
  if (model === undefined || model === '') throw missing('model')
  const family = typeof model === 'string' ? familyOf(model) : undefined
  if (typeof model !== 'string' || !family) throw unknownMediaModel(text(model))
  checkFields(json)
  checkForGeneration(json, family)
  const content = readContent(json, family)
  const merged = { ...suffixesOf(promptOf(json)), ...json }
  const { resolution, ratio } = readFrame(merged, family)
  const { seconds, frames } = readLength(merged, family)
  const [width, height] = sizeOf(family.generation, resolution, ratio)
  return {
    model,
    family,
    content,
    resolution,
    ratio,
    width,
    height,
    seconds,
    frames,
    seed: Number(merged.seed ?? -1),
    sound: json.generate_audio !== false && family.generation !== '1.0',
    draft: json.draft === true,
    callbackUrl: typeof json.callback_url === 'string' ? json.callback_url : undefined,
    lastFrame: json.return_last_frame === true,
    lifeSeconds: Number(json.execution_expires_after ?? 172_800),
    echoes: echoesOf(json, family),
  }
}

function checkFields(json: Json): void {
  for (const flag of FLAGS) {
    if (json[flag] !== undefined && typeof json[flag] !== 'boolean') throw invalid(flag)
  }
  const { safety_identifier: person, callback_url: url, execution_expires_after: life } = json
  if (person !== undefined && (typeof person !== 'string' || [...person].length > 64)) {
    throw invalid('safety_identifier')
  }
  if (url !== undefined && !/^https?:\/\//.test(text(url))) throw invalid('callback_url')
  if (life !== undefined && !isInteger(life, 3600, 259_200)) {
    throw invalid('execution_expires_after')
  }
  const tier = json.service_tier
  if (tier !== undefined && tier !== 'default' && tier !== 'flex') throw invalid('service_tier')
}

function checkForGeneration(json: Json, { generation }: Family): void {
  const first = generation.startsWith('1')
  for (const field of FIRST_GENERATION_ONLY) {
    if (json[field] !== undefined && !first) throw unsupported(field)
  }
  if (json.frames !== undefined && generation !== '1.0') throw unsupported('frames')
  if (json.seed !== undefined && !isInteger(json.seed, -1, 2 ** 32 - 1)) throw invalid('seed')
  if (json.service_tier === 'flex' && !first) throw unsupported('service_tier')
  if (json.draft === true && generation !== '1.5') throw unsupported('draft')
  for (const field of ['tools', 'priority']) {
    if (json[field] !== undefined && first) throw unsupported(field)
  }
  if (json.priority !== undefined && !isInteger(json.priority, 0, 9)) throw invalid('priority')
  for (const field of ['omni_reference_task_type', 'output_format']) {
    if (json[field] !== undefined && generation !== '2.5') throw unsupported(field)
  }
}

function readFrame(json: Json, family: Family): { resolution: string; ratio: string } {
  const resolution = json.draft === true ? '480p' : (json.resolution ?? family.defaultResolution)
  if (typeof resolution !== 'string' || !family.resolutions.includes(resolution)) {
    throw invalid('resolution')
  }
  const ratio = json.ratio ?? 'adaptive'
  if (typeof ratio !== 'string' || !RATIOS.includes(ratio)) throw invalid('ratio')
  return { resolution, ratio: ratio === 'adaptive' ? '16:9' : ratio }
}

function readLength(json: Json, family: Family): { seconds: number | undefined; frames: number } {
  const { frames } = json
  if (frames !== undefined) {
    if (!isInteger(frames, 29, 289) || (Number(frames) - 25) % 4 !== 0) throw invalid('frames')
    return { seconds: undefined, frames: Number(frames) }
  }
  const duration = json.duration ?? family.defaultSeconds
  const [shortest, longest] = family.seconds
  if (duration === -1 && family.choosesSeconds) return framesOf(CHOSEN_SECONDS)
  if (!isInteger(duration, shortest, longest)) throw invalid('duration')
  return framesOf(Number(duration))
}

/** One frame more than 24 a second, as measured. */
function framesOf(seconds: number): { seconds: number; frames: number } {
  return { seconds, frames: 24 * seconds + 1 }
}

const SUFFIXES: Record<string, string> = {
  rs: 'resolution',
  resolution: 'resolution',
  rt: 'ratio',
  ratio: 'ratio',
  dur: 'duration',
  duration: 'duration',
  seed: 'seed',
}

function suffixesOf(prompt: string): Json {
  const found: Json = {}
  for (const [, name = '', value = ''] of prompt.matchAll(/--([a-z]+)\s+(\S+)/g)) {
    const field = SUFFIXES[name]
    if (field) found[field] = /^-?\d+$/.test(value) ? Number(value) : value
  }
  return found
}

function echoesOf(json: Json, { generation }: Family): Json {
  const sound = generation === '1.0' ? {} : { generate_audio: json.generate_audio ?? true }
  const echoed = ['priority', 'draft', 'tools', 'safety_identifier']
  const fields = echoed.flatMap((name) => (json[name] === undefined ? [] : [[name, json[name]]]))
  return {
    ...sound,
    service_tier: json.service_tier ?? 'default',
    execution_expires_after: json.execution_expires_after ?? 172_800,
    ...Object.fromEntries(fields),
  }
}
