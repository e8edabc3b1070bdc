/** Usage as vendors state it for completed work: one function per wire format and form. */
import type { Work } from '../vendor/bill.ts'

export type Json = Readonly<Record<string, unknown>>

const count = (work: Work, unit: string): number => work.counts[unit] ?? 0

function inputParts(work: Work) {
  return {
    fresh: count(work, 'input_token'),
    cached: count(work, 'cached_input_token'),
    written: count(work, 'cache_write_token'),
    written5m: count(work, 'cache_write_5m_token'),
    written1h: count(work, 'cache_write_1h_token'),
    audio: count(work, 'audio_input_token'),
    image: count(work, 'image_input_token'),
  }
}

function total(parts: ReturnType<typeof inputParts>): number {
  return Object.values(parts).reduce((sum, one) => sum + one, 0)
}

type Form = (work: Work, reasoning: number) => Json

function sumsOf(work: Work) {
  const prompt = total(inputParts(work))
  const output = count(work, 'output_token') + count(work, 'audio_output_token')
  return { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output }
}

/** OpenAI's own form: details are parts of their totals. */
const plain: Form = (work, reasoning) => {
  const { cached, written, audio, image } = inputParts(work)
  return {
    ...sumsOf(work),
    prompt_tokens_details: {
      cached_tokens: cached,
      audio_tokens: audio,
      ...(written > 0 ? { cache_write_tokens: written } : {}),
      ...(image > 0 ? { image_tokens: image } : {}),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: count(work, 'audio_output_token'),
    },
  }
}

/** Returns true if the totals alone are complete. */
function isSimple(work: Work): boolean {
  const { fresh } = inputParts(work)
  return fresh === total(inputParts(work)) && count(work, 'audio_output_token') === 0
}

/** Cached and written tokens in addition to the prompt, not inside it. */
const exclusive: Form = (work) => {
  const { fresh, cached, written } = inputParts(work)
  return {
    ...sumsOf(work),
    prompt_tokens: fresh,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
  }
}

/** Cached tokens and reasoning stand beside both counts; the total has the reasoning alone. */
const apart: Form = (work, reasoning) => {
  const usage = exclusive(work, reasoning)
  const output = sumsOf(work).completion_tokens
  return {
    ...usage,
    completion_tokens: output - reasoning,
    total_tokens: inputParts(work).fresh + output,
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
}

const reasoningOutside: Form = (work, reasoning) => {
  const sums = sumsOf(work)
  return {
    ...sums,
    completion_tokens: sums.completion_tokens - reasoning,
    prompt_tokens_details: {
      text_tokens: sums.prompt_tokens,
      cached_tokens: inputParts(work).cached,
    },
    completion_tokens_details: { reasoning_tokens: reasoning },
    num_sources_used: 0,
  }
}

const creation: Form = (work, reasoning) => {
  const { cached, written5m } = inputParts(work)
  const isExplicit = work.served.mode === 'explicit'
  const split = {
    cache_type: 'ephemeral',
    cache_creation: { ephemeral_5m_input_tokens: written5m },
  }
  return {
    ...sumsOf(work),
    prompt_tokens_details: {
      cached_tokens: cached,
      cache_creation_input_tokens: written5m,
      ...(isExplicit ? split : {}),
    },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
}

/** Forms of chat usage; each states the same work. */
const CHAT_FORMS: Readonly<Record<string, Form>> = {
  plain,
  exclusive,
  'exclusive, reasoning outside': apart,
  creation,
  'reasoning-outside': reasoningOutside,
  bare: (work, reasoning) => (isSimple(work) ? sumsOf(work) : plain(work, reasoning)),
  'null-details': (work, reasoning) =>
    isSimple(work)
      ? { ...sumsOf(work), prompt_tokens_details: null, completion_tokens_details: null }
      : plain(work, reasoning),
  'hit-and-miss': (work, reasoning) => {
    const sums = sumsOf(work)
    const { cached } = inputParts(work)
    return {
      ...sums,
      prompt_cache_hit_tokens: cached,
      prompt_cache_miss_tokens: sums.prompt_tokens - cached,
      completion_tokens_details: { reasoning_tokens: reasoning },
    }
  },
  'cached-on-top': (work) => ({ ...sumsOf(work), cached_tokens: inputParts(work).cached }),
  'num-cached': (work) => ({ ...sumsOf(work), num_cached_tokens: inputParts(work).cached }),
  'total for output': (work) => {
    const { completion_tokens: _, ...sums } = sumsOf(work)
    return { ...sums, cached_tokens: inputParts(work).cached }
  },
  cost: (work, reasoning) => ({
    ...plain(work, reasoning),
    cost: costIn(work),
    is_byok: false,
    cost_details: { upstream_inference_cost: null },
  }),
  'cost beside a tool': (work, reasoning) => ({
    ...plain(work, reasoning),
    cost: costIn(work),
    server_tool_use: { datetime_requests: 1 },
  }),
  ticks: (work, reasoning) => ({
    ...plain(work, reasoning),
    cost_in_usd_ticks: Number((work.costNanos ?? 0n) * 10n),
  }),
}

export function chatUsage(work: Work, form: string, reasoning: number): Json {
  return (CHAT_FORMS[form] ?? plain)(work, reasoning)
}

/** Returns a cost in the currency's own unit, as JSON prints it. */
function costIn(work: Work): number {
  return Number(work.costNanos ?? 0n) / 1e9
}

export function responsesUsage(work: Work, form: string, reasoning: number): Json {
  const parts = inputParts(work)
  const input = total(parts)
  const output = count(work, 'output_token')
  const sums = { input_tokens: input, output_tokens: output, total_tokens: input + output }
  if (form === 'bare' && parts.cached + parts.written === 0) return sums
  return {
    ...sums,
    input_tokens_details: { cached_tokens: parts.cached, cache_write_tokens: parts.written },
    output_tokens_details: { reasoning_tokens: reasoning },
  }
}

/** Returns the whole usage of a message. `silent` omits the service tier. */
export function messagesUsage(work: Work, form: string, silent: boolean): Json {
  const parts = inputParts(work)
  const searches = count(work, 'web_search_call')
  const fetches = count(work, 'web_fetch_call')
  const counts = {
    input_tokens: parts.fresh,
    cache_read_input_tokens: parts.cached,
    cache_creation_input_tokens: parts.written5m + parts.written1h,
    cache_creation: {
      ephemeral_5m_input_tokens: parts.written5m,
      ephemeral_1h_input_tokens: parts.written1h,
    },
    output_tokens: count(work, 'output_token'),
  }
  const served = silent
    ? {}
    : { service_tier: 'standard', speed: work.served.speed, inference_geo: work.served.region }
  const tools =
    searches + fetches === 0
      ? {}
      : { server_tool_use: { web_search_requests: searches, web_fetch_requests: fetches } }
  const isBare = form === 'bare' && total(parts) === parts.fresh
  const usage = isBare
    ? { input_tokens: counts.input_tokens, output_tokens: counts.output_tokens }
    : counts
  const isAlone = work.passes.length === 0
  if (form === 'compaction' && isAlone) return { ...compacted(work, counts), ...tools, ...served }
  return { ...usage, ...tools, ...served, ...iterationsOf(work, counts) }
}

/** A pass of the same model that the totals omit. */
function compacted(work: Work, own: Json): Json {
  const input = Math.floor(count(work, 'input_token') / 3)
  const output = Math.floor(count(work, 'output_token') / 3)
  const rest = {
    ...own,
    input_tokens: count(work, 'input_token') - input,
    output_tokens: count(work, 'output_token') - output,
  }
  const compaction = { type: 'compaction', input_tokens: input, output_tokens: output }
  return { ...rest, iterations: [compaction, { type: 'message', ...rest }] }
}

/** With passes of other models, each pass has its own entry. */
function iterationsOf(work: Work, own: Json): Json {
  if (work.passes.length === 0) return {}
  const others = work.passes.map(({ model, counts }) => ({
    type: 'advisor_message',
    model,
    input_tokens: counts.input_token ?? 0,
    output_tokens: counts.output_token ?? 0,
    cache_read_input_tokens: counts.cached_input_token ?? 0,
    cache_creation_input_tokens: 0,
  }))
  return { iterations: [{ type: 'message', ...own }, ...others] }
}

/** Returns a usage of which every count is smaller, as of an earlier or a mistaken statement. */
export function shrink(usage: unknown, factor = 0.5): unknown {
  if (typeof usage === 'number') return Math.floor(usage * factor)
  if (typeof usage !== 'object' || usage === null || Array.isArray(usage)) return usage
  const entries = Object.entries(usage).map(([name, value]) => [name, shrink(value, factor)])
  return Object.fromEntries(entries)
}
