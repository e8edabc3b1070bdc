/** Splits the token counts of OpenAI-shaped usage into units that do not overlap. */
import { isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import type { Quantities } from '../../../base/lib/units.ts'
import { addCounts, readCount, readFirstCount } from '../usage/read-count.ts'
import { type Tally, tally } from '../usage/usage-reading.ts'
import type { WriteLifetime } from '../usage/write-lifetime.ts'

/** Returns the lifetime that the request asks for; called only where the answer states none. */
export type ReadLifetime = () => WriteLifetime | undefined

/** The input of an answer as stated, before it is split. */
interface Input {
  /** Everything that the model read. */
  readonly total: number
  /** The count of the prompt, in which cached and written tokens may be missing. */
  readonly prompt: number
  readonly cached: number
  readonly written: number
}

/**
 * Tokens on both sides. A side whose total is not stated as a count is absent, with all of its
 * parts; a part that is not stated stays in its total as ordinary tokens.
 */
export function splitTokens(usage: JsonObject, lifetime?: ReadLifetime): Quantities {
  const input = readInput(usage)
  const quantities: Tally = input ? splitInput(usage, input, lifetime) : {}
  addOutput(quantities, usage, input)
  // Mistral bills the sound of a prompt by its length.
  tally(quantities, 'second', readCount(usage.prompt_audio_seconds) ?? 0)
  return quantities
}

/** Returns the tokens of both sides; 0 for a side that is not stated. */
export function totalSides(usage: JsonObject): readonly number[] {
  const input = readInput(usage)
  const output = readOutput(usage, input)
  const outside = output === undefined ? 0 : readOutside(usage, input, output)
  return [input?.total ?? 0, (output ?? 0) + outside]
}

/** The details of a side, in the plural and the singular that vendors write. */
const DETAILS = {
  input: [
    'prompt_tokens_details',
    'input_tokens_details',
    'prompt_token_details',
    'input_token_details',
  ],
  output: [
    'completion_tokens_details',
    'output_tokens_details',
    'completion_token_details',
    'output_token_details',
  ],
} as const

/** Returns the details that are present; most answers have none. */
function detailsOf(usage: JsonObject, side: keyof typeof DETAILS): readonly JsonObject[] {
  const found: JsonObject[] = []
  for (const name of DETAILS[side]) {
    const details = usage[name]
    if (isObject(details)) found.push(details)
  }
  return found
}

/** Returns the first count above zero in the order of the names; 0 if none is stated. */
function readDetail(details: readonly unknown[], ...names: readonly string[]): number {
  if (details.length === 0) return 0
  for (const name of names) {
    for (const one of details) {
      const count = readCount(member(one, name))
      if (count !== undefined && count > 0) return count
    }
  }
  return 0
}

/**
 * Most vendors count cached and written tokens in the prompt. If they exceed the prompt, they are
 * separate from it. DeepSeek's hits and misses make up the prompt.
 */
function readInput(usage: JsonObject): Input | undefined {
  const details = detailsOf(usage, 'input')
  const hits = usage.prompt_cache_hit_tokens
  const cacheMisses = readCount(usage.prompt_cache_miss_tokens)
  const promptTokens = readEither(usage.prompt_tokens, usage.input_tokens)
  const cached = readFirstCount(
    readDetail(details, 'cached_tokens'),
    hits,
    usage.cached_tokens,
    usage.num_cached_tokens,
    usage.cache_read_input_tokens,
  )
  const isAbsent = usage.prompt_tokens === undefined && usage.input_tokens === undefined
  const fromCache =
    isAbsent && cacheMisses !== undefined ? addCounts(cacheMisses, cached) : undefined
  const prompt = promptTokens ?? fromCache ?? readRest(usage, readOutput(usage, undefined))
  if (prompt === undefined) return undefined
  const written = readWritten(usage, details)
  if (cached + written <= prompt) return { total: prompt, prompt, cached, written }
  const total = addCounts(prompt, cached, written)
  if (total === undefined) return { total: prompt, prompt, cached: 0, written: 0 }
  return { total, prompt, cached, written }
}

function readOutput(usage: JsonObject, input: Input | undefined): number | undefined {
  const output = readEither(usage.completion_tokens, usage.output_tokens)
  return output ?? readRest(usage, input?.total)
}

/** No answer is longer: a total that exceeds its parts by more is a mistake. */
const REST_MAX = 131_072

/** Returns the remainder of the total for a side that is not stated; undefined if there is none. */
function readRest(usage: JsonObject, other: number | undefined): number | undefined {
  const total = readCount(usage.total_tokens)
  if (total === undefined || other === undefined) return undefined
  const rest = total - other
  return rest > 0 && rest <= REST_MAX ? rest : undefined
}

/** Reads a count that has two names. Some proxies write both, and 0 under the one not used. */
function readEither(value: unknown, other: unknown): number | undefined {
  const count = readCount(value)
  return count ? count : (readCount(other) ?? count)
}

const WRITE_NAMES = [
  'cache_write_tokens',
  'cache_creation_input_tokens',
  'cache_creation_tokens',
  'cache_creation',
]

function readWritten(usage: JsonObject, details: readonly unknown[]): number {
  const writeTokens = readDetail([...details, usage], ...WRITE_NAMES)
  const { hour, minutes } = readWriteSplit(usage, details)
  return writeTokens > 0 ? writeTokens : (addCounts(hour, minutes) ?? 0)
}

interface WriteSplit {
  readonly hour: number
  readonly minutes: number
}

function readWriteSplit(usage: JsonObject, details: readonly unknown[]): WriteSplit {
  const splits = [...details, usage].map((one) => member(one, 'cache_creation'))
  return {
    hour: readDetail(splits, 'ephemeral_1h_input_tokens'),
    minutes: readDetail(splits, 'ephemeral_5m_input_tokens'),
  }
}

/**
 * Text is the remainder after the other kinds. Vendors rarely state which kind was cached or
 * written: text is counted first, then images, then audio, so that the parts add up to the total.
 */
function splitInput(
  usage: JsonObject,
  { total, cached, written }: Input,
  lifetime: ReadLifetime | undefined,
): Tally {
  const details = detailsOf(usage, 'input')
  if (details.length === 0 && cached === 0 && written === 0) return { input_token: total }
  const room = new Room(total)
  const audio = room.take(readDetail(details, 'audio_tokens'))
  const image = room.take(readDetail(details, 'image_tokens'))
  const video = room.take(readDetail(details, 'video_tokens'))
  const text = room.remaining
  const kinds = details.map((one) => member(one, 'cached_tokens_details'))
  const reads = new Room(cached)
  const cachedAudioTokens = readFirstCount(
    readDetail(details, 'audio_cached_tokens', 'cached_audio_tokens'),
    readDetail(kinds, 'audio_tokens'),
  )
  let cachedAudio = reads.take(Math.min(cachedAudioTokens, audio))
  let cachedImage = reads.take(Math.min(readDetail(kinds, 'image_tokens'), image))
  const cachedText = reads.take(text)
  cachedImage += reads.take(image - cachedImage)
  cachedAudio += reads.take(audio - cachedAudio)
  const cachedVideo = reads.remaining
  const writes = new Room(written)
  const freshText = text - cachedText - writes.take(text - cachedText)
  const freshImage = image - cachedImage - writes.take(image - cachedImage)
  const freshVideo = video - cachedVideo - writes.take(video - cachedVideo)
  const freshAudio = audio - cachedAudio - writes.take(audio - cachedAudio)
  const quantities: Tally = { input_token: freshText }
  tally(quantities, 'cached_input_token', cachedText + cachedVideo)
  tally(quantities, 'audio_input_token', freshAudio)
  tally(quantities, 'cached_audio_input_token', cachedAudio)
  tally(quantities, 'image_input_token', freshImage)
  tally(quantities, 'cached_image_input_token', cachedImage)
  tally(quantities, 'video_input_token', freshVideo)
  tallyWrites(quantities, usage, written, lifetime)
  return quantities
}

/**
 * Uses the lifetime stated in the answer, else the requested one, else the unit without a lifetime.
 */
function tallyWrites(
  quantities: Tally,
  usage: JsonObject,
  written: number,
  lifetime: ReadLifetime | undefined,
): void {
  const details = detailsOf(usage, 'input')
  const split = readWriteSplit(usage, details)
  const room = new Room(written)
  tally(quantities, 'cache_write_1h_token', room.take(split.hour))
  tally(quantities, 'cache_write_5m_token', room.take(split.minutes))
  if (room.remaining === 0) return
  const isExplicit = readCacheType(usage) !== undefined
  const known = lifetime?.() ?? (isExplicit ? '5m' : undefined)
  const unit = known === undefined ? 'cache_write_token' : (`cache_write_${known}_token` as const)
  tally(quantities, unit, room.remaining)
}

/** DashScope states the kind of cache only if the request marked content for caching. */
export function readCacheType(usage: JsonObject): string | undefined {
  for (const details of detailsOf(usage, 'input')) {
    const type = member(details, 'cache_type')
    if (typeof type === 'string' && type !== '') return type
  }
  return undefined
}

/**
 * Counts reasoning as output. If `total_tokens` exceeds the sum of both sides, reasoning was
 * reported separately: the difference counts, up to the reasoning stated in the details. Without a
 * total, reasoning that exceeds the output cannot be a part of it.
 */
function addOutput(quantities: Tally, usage: JsonObject, input: Input | undefined): void {
  const outputTokens = readOutput(usage, input)
  if (outputTokens === undefined) return
  const details = detailsOf(usage, 'output')
  const room = new Room(outputTokens)
  const audio = room.take(readDetail(details, 'audio_tokens'))
  const image = room.take(readDetail(details, 'image_tokens'))
  quantities.output_token =
    addCounts(room.remaining, readOutside(usage, input, outputTokens)) ?? room.remaining
  tally(quantities, 'audio_output_token', audio)
  tally(quantities, 'image_output_token', image)
}

function readOutside(usage: JsonObject, input: Input | undefined, output: number): number {
  const total = readCount(usage.total_tokens)
  // Perplexity's deep research reports reasoning apart from the output, and in no total.
  if (readCount(usage.citation_tokens) !== undefined) return readFirstCount(usage.reasoning_tokens)
  // The remainder of this total is for sound.
  if ((readCount(usage.prompt_audio_seconds) ?? 0) > 0) return 0
  const reasoning = readStatedReasoning(usage)
  if (total === undefined) return reasoning !== undefined && reasoning > output ? reasoning : 0
  if (!input) return 0
  const difference = total - input.total - output
  if (reasoning !== undefined) {
    // If cached tokens are separate from the prompt, a total may omit them too.
    const isRest = difference !== 0 && total - input.prompt - output === reasoning
    return isRest ? reasoning : Math.min(Math.max(0, difference), reasoning)
  }
  return difference > 0 && difference <= REST_MAX ? difference : 0
}

/** Reasoning tokens as the details state them; undefined when they do not. */
export function readStatedReasoning(usage: unknown): number | undefined {
  if (!isObject(usage)) return undefined
  for (const details of detailsOf(usage, 'output')) {
    const reasoning = readCount(member(details, 'reasoning_tokens'))
    if (reasoning !== undefined) return reasoning
  }
  return undefined
}

/** A count from which parts are taken, never more than remains. */
class Room {
  remaining: number

  constructor(total: number) {
    this.remaining = total
  }

  take(count: number): number {
    const part = Math.min(count, this.remaining)
    this.remaining -= part
    return part
  }
}
