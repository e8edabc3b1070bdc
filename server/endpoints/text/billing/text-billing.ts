/**
 * The money of text requests, for all text dialects: what is held, the ceiling of what is believed,
 * and what stands in for usage that nobody stated. Quantities are counted over the whole body as
 * it was sent, so that no member of it can hide text.
 */
import type { RelayReport } from '../../../dialects/relay.ts'
import type { JsonObject } from '../../../lib/json.ts'
import type { Quantities, Unit } from '../../../lib/units.ts'
import type { Body, Estimate, QuotedRequest } from '../../../pipeline/metering.ts'
import type { Ceiling } from '../../../pipeline/price/ceiling.ts'
import type { Measure } from './measure.ts'
import { type Asking, alternativesOf, countOf, isAbsent } from './priced-options.ts'
import { refuseMisspelt } from './refuse-misspelt.ts'

/** The operator's own limit is far below this one. */
export const TEXT_BODY_BYTES_MAX = 256 * 1024 * 1024

/** What text calls are billed by. */
export const TEXT_NEEDS: readonly Unit[] = ['input_token', 'output_token']

/** The hold for a call that names no limit at a model that has none either. */
const OUTPUT_TOKENS_DEFAULT = 4_096
const BYTES_PER_TOKEN = 4

/** Hidden prompts, templates of tools and of messages. */
const HIDDEN_TOKENS = 16_384
/** What models without limits in the catalog are believed to take and to write. */
const INPUT_TOKENS_MAX = 2_000_000
const OUTPUT_TOKENS_MAX = 1_000_000
/** Rounds of a vendor's own tools where the request allows fewer or does not say. */
const ROUNDS = 20
/** Calls of a vendor's own tools, likewise. */
const TOOL_CALLS = 1_000
/** Answers to one request, at the vendors that make the most. */
const CHOICES_MAX = 128
/** Far below what doubles hold exactly, and far above what anybody sends. */
const MOST = 2 ** 50

/** All limits of the output that any dialect knows, and names of servers of open models. */
const LIMITS = [
  'max_completion_tokens',
  'max_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'max_gen_tokens',
  'num_predict',
]
/** Names of the number of answers, of which the first is the dialect's own. */
const CHOICES = [
  'n',
  'best_of',
  'candidate_count',
  'num_choices',
  'num_completions',
  'num_generations',
  'num_return_sequences',
  'num_samples',
]

export interface TextDialect {
  /** The limits that this dialect knows; others can raise a hold and not lower it. */
  readonly limits: readonly string[]
  /** Top-level members whose whole meaning is in the body. */
  readonly plain: ReadonlySet<string>
  readonly measure: (value: JsonObject) => Measure
  readonly asking: (request: QuotedRequest, measure: Measure, inputTokens: number) => Asking
}

/** The estimate of one request, from one walk over it. */
export function quoteText(request: QuotedRequest, dialect: TextDialect): Estimate {
  const { value, body, chain } = request
  refuseMisspelt(value)
  const measure = dialect.measure(value)
  const inputTokens = countInputCeiling(body.length, measure)
  const asking = dialect.asking(request, measure, inputTokens)
  const limits = readLimits(request, dialect)
  const held = inputTokens + (chain?.tokens ?? 0)
  const ceiling = boundText(request, limits, measure, asking)
  const inputUnit: Unit = measure.longCache ? 'cache_write_1h_token' : 'input_token'
  return {
    quantities: { [inputUnit]: held, [outputUnitOf(asking)]: countOutput(request, limits) },
    ceiling,
    streamTokens: boundStream(limits, ceiling, asking),
    dimensions: { alternatives: alternativesOf(asking), features: asking.features },
  }
}

/** What a request says of the size of its answer. */
interface OutputLimits {
  /** The largest limit under a name that the dialect knows; undefined where there is none. */
  readonly named: number | undefined
  /** The largest limit under any name; 0 where there is none. */
  readonly largest: number
  /** Each answer is billed, those too that the vendor makes and does not show. */
  readonly choices: number
  /** Tokens of a predicted answer, of which the rejected ones are billed; as bytes. */
  readonly predictionBytes: number
  /** True when every member is one whose whole meaning is in the body. */
  readonly isPlain: boolean
}

function readLimits({ value, fields }: QuotedRequest, dialect: TextDialect): OutputLimits {
  return {
    named: largest(value, dialect.limits),
    largest: largest(value, LIMITS) ?? 0,
    choices: Math.max(1, largest(value, CHOICES) ?? 1),
    predictionBytes: bytesOf(fields, 'prediction'),
    isPlain: hasOnly(value, dialect.plain),
  }
}

/** An answer that may be spoken is held for at the price of speech. */
function outputUnitOf({ features }: Asking): Unit {
  const isAudio = features.some(({ unit }) => unit === 'audio_output_token')
  return isAudio ? 'audio_output_token' : 'output_token'
}

/** Tokens of a body at four bytes each, and of its media. */
export function countInputCeiling(bodyBytes: number, { mediaBytes, mediaTokens }: Measure): number {
  return Math.ceil(Math.max(0, bodyBytes - mediaBytes) / BYTES_PER_TOKEN) + mediaTokens
}

/** The most that the caller allows, over all answers; null is no limit. */
function countOutput({ model }: QuotedRequest, limits: OutputLimits): number {
  const limit = model.limits.max_output_tokens ?? OUTPUT_TOKENS_DEFAULT
  const most = Math.max(limits.named ?? limit, limits.largest)
  const rejected = Math.ceil(limits.predictionBytes / BYTES_PER_TOKEN)
  return Math.min(most * limits.choices + rejected, MOST)
}

function largest(value: Body, names: readonly string[]): number | undefined {
  let most: number | undefined
  for (const name of names) {
    const limit = countOf(value[name])
    if (limit !== undefined && (most === undefined || limit > most)) most = limit
  }
  return most
}

/** Of a top-level member as it was sent. */
function bytesOf(fields: QuotedRequest['fields'], name: string): number {
  const member = fields.get(name)
  return member ? member.valueEnd - member.valueStart : 0
}

/** Text is at most a token for each byte; what is not in the body is bounded by the model. */
function boundText(
  { body, model, chain }: QuotedRequest,
  limits: OutputLimits,
  measure: Measure,
  { isHosted, calls }: Asking,
): Ceiling {
  const { max_input_tokens: inputMax, max_output_tokens: outputMax } = model.limits
  const isWhole = !measure.isOpen && !isHosted && chain?.tokens !== null && limits.isPlain
  const elsewhere = isWhole ? 0 : (inputMax ?? INPUT_TOKENS_MAX)
  const passes = isHosted ? 1 + Math.max(calls, ROUNDS) : 1
  const input = body.length + (chain?.tokens ?? 0) + HIDDEN_TOKENS + elsewhere
  const each = Math.max(limits.largest, outputMax ?? OUTPUT_TOKENS_MAX)
  // An unknown member may be a vendor's own name for the number of answers.
  const answers = Math.max(limits.choices, limits.isPlain ? 1 : CHOICES_MAX)
  const output = each * answers + limits.predictionBytes
  return {
    inputTokens: Math.min(input * passes, MOST),
    outputTokens: Math.min(output * passes, MOST),
    others: Math.max(TOOL_CALLS, calls),
  }
}

/** Models that think beside the named limit write a few times as much. */
const STREAM_FACTOR = 4
const STREAM_TOKENS_LEAST = 65_536

/** What a stream may bring: far above the limit that the caller named, where one was named. */
function boundStream(
  { named, choices }: OutputLimits,
  { outputTokens }: Ceiling,
  { isHosted }: Asking,
): number {
  if (named === undefined || isHosted) return outputTokens
  const most = named * choices * STREAM_FACTOR
  return Math.min(Math.max(most, STREAM_TOKENS_LEAST), outputTokens)
}

/** A member that nobody knows may name anything; one that is null names nothing. */
function hasOnly(value: Body, plain: ReadonlySet<string>): boolean {
  for (const name of Object.keys(value)) {
    if (!plain.has(name) && !isAbsent(value[name])) return false
  }
  return true
}

/** Without usage: the estimated input, and the output that was seen. */
export function estimateText(inputTokens: number, report: RelayReport): Quantities {
  return { input_token: inputTokens, output_token: estimateOutput(report) }
}

/** Vendors send about an event for each token; where they do not, four bytes are one. */
function estimateOutput({ outputBytes, outputEvents = 0 }: RelayReport): number {
  const each = outputBytes / outputEvents
  const isByToken = each >= 2 && each <= 12
  return isByToken ? outputEvents : Math.ceil(outputBytes / BYTES_PER_TOKEN)
}

export function asksForStream(value: Body): boolean {
  return value.stream === true
}
