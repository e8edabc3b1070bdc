/** Estimates the answer to `count_tokens` where the upstream cannot count. */

import { isObject, type JsonObject } from '../../../base/lib/json.ts'
import { estimateTokens, IMAGE_TOKENS } from '../../../base/lib/text/estimate-tokens.ts'

/** Tokens that the format itself adds per message and tool. */
const TOKENS_PER_ITEM = 4

/** Input tokens of a request: its texts, calls and tools; an image or a document counts flat. */
export function countMessagesTokens({ system, messages, tools }: JsonObject): number {
  return countItems(system) + countItems(messages) + countItems(tools)
}

function countItems(value: unknown): number {
  if (!Array.isArray(value)) return countValue(value)
  return value.reduce((sum: number, item) => sum + TOKENS_PER_ITEM + countValue(item), 0)
}

function countValue(value: unknown): number {
  if (typeof value === 'string') return estimateTokens(value)
  if (typeof value === 'number' || typeof value === 'boolean') return 1
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + countValue(item), 0)
  if (!isObject(value)) return 0
  if (isBase64(value.source)) return IMAGE_TOKENS
  let tokens = 0
  for (const [key, inner] of Object.entries(value)) {
    if (IS_JSON.has(key)) tokens += estimateTokens(JSON.stringify(inner))
    else if (!IGNORED.has(key)) tokens += countValue(inner)
  }
  return tokens
}

/** The model reads these as JSON, keys included. */
const IS_JSON = new Set(['input', 'input_schema'])

/** Fields of the envelope, which the model does not read. */
const IGNORED = new Set(['type', 'cache_control', 'signature', 'id', 'tool_use_id'])

function isBase64(source: unknown): boolean {
  return isObject(source) && source.type === 'base64'
}
