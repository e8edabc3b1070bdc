/**
 * Billing of text requests in all text dialects: the estimate for the hold, the ceiling, and the
 * estimate of usage that was not stated. Quantities are counted over the whole body as sent, so
 * that no member can hide text.
 */

import { isAbsent, type JsonObject } from '../../../../base/lib/json.ts'
import type { Quantities, Unit } from '../../../../base/lib/units.ts'
import type { RelayReport } from '../../../../wire/dialects/relay.ts'
import type { Body, Estimate, QuotedRequest } from '../../../../work/pipeline/metering.ts'
import type { Ceiling } from '../../../../work/pipeline/price/ceiling.ts'
import { isPlainValue, type Measure, refuseMisspeltInside } from './measure.ts'
import { countOf, dimensionsOf, type PricedOptions, refuseTooMany } from './priced-options.ts'
import { refuseMisspelt } from './refuse-misspelt.ts'

/** The operator's limit is far below this one. */
export const TEXT_BODY_BYTES_MAX = 256 * 1024 * 1024

/** The units of every text call. */
export const TEXT_NEEDS: readonly Unit[] = ['input_token', 'output_token']

/** Output to hold for if neither the call nor the model sets a limit. */
const OUTPUT_TOKENS_DEFAULT = 4_096
const BYTES_PER_TOKEN = 4
/** A larger event of a stream holds more than one token. */
const EVENT_BYTES_MAX = 12

/** Allowance for hidden prompts, and for templates of tools and messages. */
const HIDDEN_TOKENS = 16_384
/**
 * A translated request is up to twice as long: a tool's arguments become a string, in which quotes
 * are escaped, and short tools and parts of messages get wrappers.
 */
const SENT_BYTES_PER_BYTE = 2
/** Ceilings for models without limits in the catalog. */
const INPUT_TOKENS_MAX = 2_000_000
const OUTPUT_TOKENS_MAX = 1_000_000
/** No model thinks longer. Some vendors count thinking as output but not towards its limit. */
const THINKING_TOKENS_MAX = 131_072
/** Ceiling of the rounds of vendor-run tools, unless the request allows more. */
const ROUNDS = 20
/** Ceiling of the calls of vendor-run tools, unless the request allows more. */
const TOOL_CALLS = 1_000
/** Maximum number of answers to one request, at any vendor. */
const CHOICES_MAX = 128
/** Far below the largest exact integer, and far above any real request. */
const QUANTITY_MAX = 2 ** 50

/** Output limits of all dialects and of servers of open models. */
const LIMITS = [
  'max_completion_tokens',
  'max_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'max_gen_tokens',
  'num_predict',
]
/** Names for the number of answers; the first is the dialect's own. */
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
  /** Names of output limits in this dialect; others can raise a hold but not lower it. */
  readonly limits: readonly string[]
  /** Top-level members that refer to nothing outside the body. */
  readonly plain: ReadonlySet<string>
  /** Returns limits that stand elsewhere, under the names that are read at the top. */
  readonly settings?: (value: JsonObject) => JsonObject
  readonly measure: (value: JsonObject) => Measure
  readonly readOptions: (
    request: QuotedRequest,
    measure: Measure,
    inputTokens: number,
  ) => PricedOptions
}

/** Estimates one request, in one pass over it. */
export function quoteText(request: QuotedRequest, dialect: TextDialect): Estimate {
  const { value, body, chain } = request
  refuseMisspelt(value)
  const measure = dialect.measure(value)
  refuseMisspeltInside(measure, value)
  const inputTokens = countInputCeiling(body.length, measure)
  const requested = dialect.readOptions(request, measure, inputTokens)
  refuseTooMany(requested)
  // What a search finds is input beyond the body.
  const options = request.searchesAlways ? { ...requested, isHosted: true } : requested
  const limits = readLimits(request, dialect)
  const input = inputTokens + countChain(request)
  const { ceiling, answerTokens } = boundText(request, limits, measure, options)
  // A cache lifetime without a price is refused, or omitted by a translation.
  const hasLongCache = measure.longCache && sells(request, 'cache_write_1h_token')
  const inputUnit: Unit = hasLongCache ? 'cache_write_1h_token' : 'input_token'
  const most = boundOpen(request, input, {
    isOpen: options.isHosted || chain?.tokens === null || limits.namesMore,
    elsewhereTokens: measure.elsewhereTokens,
  })
  const media = measure.mayBeAudio && sells(request, 'audio_input_token') ? measure.mediaTokens : 0
  const mostUnit = media > 0 ? 'audio_input_token' : inputUnit
  return {
    quantities: {
      [inputUnit]: input - media,
      ...(media > 0 ? { audio_input_token: media } : {}),
      [outputUnitOf(options, request)]: countOutput(request, limits),
    },
    ...(most > input ? { most: { [mostUnit]: most } } : {}),
    ceiling,
    streamTokens: boundStream(limits, answerTokens, options),
    dimensions: dimensionsOf(options),
  }
}

/** The members of a request that determine the size of its answer. */
interface OutputLimits {
  /** The largest limit by a name of the dialect; undefined if there is none. */
  readonly named: number | undefined
  /** The largest limit by any name; 0 if there is none. */
  readonly largest: number
  /** Number of answers; all are billed, even if the vendor does not return them. */
  readonly choices: number
  /** Bytes of a predicted answer, whose rejected tokens are billed. */
  readonly predictionBytes: number
  /** True if no member refers to anything outside the body. */
  readonly isPlain: boolean
  /** True if a member may do so: it contains more than a number. */
  readonly namesMore: boolean
}

function readLimits({ value, fields }: QuotedRequest, dialect: TextDialect): OutputLimits {
  const named = dialect.settings ? { ...value, ...dialect.settings(value) } : value
  return {
    named: largest(named, dialect.limits),
    largest: largest(named, LIMITS) ?? 0,
    choices: Math.max(1, largest(named, CHOICES) ?? 1),
    predictionBytes: bytesOf(fields, 'prediction'),
    isPlain: hasOnly(value, dialect.plain),
    namesMore: hasMore(value, dialect.plain),
  }
}

/** Returns the unit of the output: if the answer may be audio or images, the hold is for these. */
function outputUnitOf({ features }: PricedOptions, request: QuotedRequest): Unit {
  const isAudio = features.some(({ unit }) => unit === 'audio_output_token')
  if (isAudio) return 'audio_output_token'
  return sells(request, 'image_output_token') ? 'image_output_token' : 'output_token'
}

/** True if the model itself has a price for a unit, rather than another model that it consults. */
function sells({ model: { prices } }: QuotedRequest, unit: Unit): boolean {
  return prices.some((price) => price.unit === unit && price.when?.model === undefined)
}

/** Returns the tokens of a body at four bytes each, plus those of its media. */
export function countInputCeiling(bodyBytes: number, { mediaBytes, mediaTokens }: Measure): number {
  return Math.ceil(Math.max(0, bodyBytes - mediaBytes) / BYTES_PER_TOKEN) + mediaTokens
}

/** Returns the output tokens that the caller allows, over all answers; a null limit is ignored. */
function countOutput({ model }: QuotedRequest, limits: OutputLimits): number {
  const limit = model.limits.max_output_tokens ?? OUTPUT_TOKENS_DEFAULT
  const most = Math.max(limits.named ?? limit, limits.largest)
  const rejected = Math.ceil(limits.predictionBytes / BYTES_PER_TOKEN)
  return Math.min(most * limits.choices + rejected, QUANTITY_MAX)
}

function largest(value: Body, names: readonly string[]): number | undefined {
  let most: number | undefined
  for (const name of names) {
    const limit = countOf(value[name])
    if (limit !== undefined && (most === undefined || limit > most)) most = limit
  }
  return most
}

/** Returns the size of a top-level member as sent. */
function bytesOf(fields: QuotedRequest['fields'], name: string): number {
  const member = fields.get(name)
  return member ? member.valueEnd - member.valueStart : 0
}

/** Returns the tokens of earlier turns; the vendor reads no more than fits. */
function countChain({ model, chain }: QuotedRequest): number {
  return Math.min(chain?.tokens ?? 0, windowOf(model))
}

function windowOf({ limits }: QuotedRequest['model']): number {
  return limits.max_input_tokens ?? INPUT_TOKENS_MAX
}

/** Returns the input tokens of one pass at most, with all that is not in the body. */
function boundOpen(
  { model }: QuotedRequest,
  input: number,
  more: { readonly isOpen: boolean; readonly elsewhereTokens: number },
): number {
  const most = more.isOpen ? Number.POSITIVE_INFINITY : input + more.elsewhereTokens
  return Math.max(input, Math.min(most, windowOf(model)))
}

interface TextBounds {
  readonly ceiling: Ceiling
  /** Maximum of the output that the output limits count. */
  readonly answerTokens: number
}

/** Bounds text by one token per byte sent, and input from outside the body by the model's limit. */
function boundText(
  request: QuotedRequest,
  limits: OutputLimits,
  measure: Measure,
  { isHosted, calls }: PricedOptions,
): TextBounds {
  const { body, model, chain } = request
  const { max_output_tokens: outputMax } = model.limits
  const isWhole = !measure.isOpen && !isHosted && chain?.tokens !== null && limits.isPlain
  const elsewhere = isWhole ? 0 : windowOf(model)
  const passes = isHosted ? 1 + Math.max(calls, ROUNDS) : 1
  const sent = body.length * SENT_BYTES_PER_BYTE
  const input = sent + countChain(request) + HIDDEN_TOKENS + elsewhere
  const most = Math.max(limits.largest, outputMax ?? OUTPUT_TOKENS_MAX)
  // An unknown member may be a vendor's name for the number of answers.
  const answers = Math.max(limits.choices, limits.isPlain ? 1 : CHOICES_MAX)
  const output = (each: number) =>
    Math.min((each * answers + limits.predictionBytes) * passes, QUANTITY_MAX)
  const ceiling = {
    inputTokens: Math.min(input * passes, QUANTITY_MAX),
    outputTokens: output(most + THINKING_TOKENS_MAX),
    others: Math.max(TOOL_CALLS, calls),
  }
  return { ceiling, answerTokens: output(most) }
}

/** Factor on the requested limit, since some models do not count thinking towards it. */
const STREAM_FACTOR = 4
const STREAM_TOKENS_MIN = 65_536

/** Returns the output tokens beyond which a stream is cut: far above a requested limit. */
function boundStream(
  { named, choices }: OutputLimits,
  answerTokens: number,
  { isHosted }: PricedOptions,
): number {
  if (named === undefined || isHosted) return answerTokens
  const most = named * choices * STREAM_FACTOR
  return Math.min(Math.max(most, STREAM_TOKENS_MIN), answerTokens)
}

/** Returns true if all members are plain or null: an unknown one may refer to anything. */
export function hasOnly(value: Body, plain: ReadonlySet<string>): boolean {
  for (const name of Object.keys(value)) {
    if (!plain.has(name) && !isAbsent(value[name])) return false
  }
  return true
}

function hasMore(value: Body, plain: ReadonlySet<string>): boolean {
  return Object.keys(value).some((name) => {
    return !plain.has(name) && !isAbsent(value[name]) && !isPlainValue(value[name])
  })
}

/** Returns usage that was not stated: as counted, or estimated from what was delivered. */
export function estimateText(inputTokens: number, report: RelayReport): Quantities {
  const { counted } = report
  const input = counted?.input_token ?? inputTokens
  return { input_token: input, output_token: counted?.output_token ?? estimateOutput(report) }
}

/**
 * Counts four bytes as a token, or each event if that is less: a vendor may send fewer bytes in an
 * event than a token has, and larger events hold several tokens.
 */
function estimateOutput({ outputBytes, outputEvents = 0 }: RelayReport): number {
  const byBytes = Math.ceil(outputBytes / BYTES_PER_TOKEN)
  const isByToken = outputEvents > 0 && outputBytes / outputEvents <= EVENT_BYTES_MAX
  return isByToken ? Math.min(outputEvents, byBytes) : byBytes
}

export function requestsStream(value: Body): boolean {
  return value.stream === true
}
