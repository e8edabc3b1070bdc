/** What a chat completion or chunk says it cost, in units that do not overlap. */
import { isObject, member } from '../../lib/json.ts'
import type { Quantities } from '../../lib/units.ts'

/**
 * Reads `usage` of a whole completion or of a chunk; a few vendors put it into the first choice.
 * Undefined when there is none. `prompt_tokens` includes what came from a cache, our
 * `input_token` does not. A count that is no number becomes NaN: the settlement must see it.
 */
export function readChatUsage(document: unknown): Quantities | undefined {
  const usage = member(document, 'usage') ?? usageOfChoice(document)
  if (!isObject(usage)) return undefined
  const prompt = usage.prompt_tokens ?? usage.input_tokens
  const output = usage.completion_tokens ?? usage.output_tokens
  if (prompt === undefined && output === undefined) return undefined
  const details = usage.prompt_tokens_details ?? usage.input_tokens_details
  const cached = readCount(
    member(details, 'cached_tokens') ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens,
  )
  const written = readCount(member(details, 'cache_write_tokens'))
  return splitPrompt(readCount(prompt), cached, written, readCount(output))
}

/** A vendor that counts more cached than prompt tokens is believed about the prompt. */
function splitPrompt(prompt: number, cached: number, written: number, output: number): Quantities {
  const sane = prompt >= 0
  const fromCache = sane ? Math.min(cached, prompt) : cached
  const toCache = sane ? Math.min(written, prompt - fromCache) : written
  return {
    input_token: prompt - fromCache - toCache,
    ...(fromCache === 0 ? {} : { cached_input_token: fromCache }),
    ...(toCache === 0 ? {} : { cache_write_token: toCache }),
    output_token: output,
  }
}

function readCount(value: unknown): number {
  if (value === undefined || value === null) return 0
  return typeof value === 'number' ? value : Number.NaN
}

function usageOfChoice(document: unknown): unknown {
  const choices = member(document, 'choices')
  return Array.isArray(choices) ? member(choices[0], 'usage') : undefined
}
