/**
 * Determines which refusals of a model are free, whether or not another model answers afterwards.
 */
import { asString, type JsonObject, member } from '../../../base/lib/json.ts'
import { readCount } from '../usage/read-count.ts'

/**
 * Categories that are billed even before any output; all others, and refusals without a category,
 * are free until then.
 */
const BILLED: ReadonlySet<unknown> = new Set(['bio', 'frontier_llm', 'reasoning_extraction'])

/** A refusal without content counts a few output tokens: 1 to 7 were observed. */
const OWN_TOKENS_MAX = 16

/** A point in the content at which one model declined and another continues. */
export interface Handover {
  readonly to: string | undefined
  /** The category in which the former model declined. */
  readonly category: unknown
}

/** Returns undefined for a block of content. */
export function readHandover(block: unknown): Handover | undefined {
  if (member(block, 'type') !== 'fallback') return undefined
  return {
    to: asString(member(member(block, 'to'), 'model')),
    category: member(member(block, 'trigger'), 'category'),
  }
}

/** Returns true if a refusal that wrote nothing is not billed. */
export function isFreeCategory(category: unknown): boolean {
  return !BILLED.has(category)
}

/** Returns true for the usage of an answer without content that wrote nothing. */
export function wroteNothing(usage: JsonObject): boolean {
  const output = readCount(usage.output_tokens)
  return output !== undefined && output <= OWN_TOKENS_MAX
}
