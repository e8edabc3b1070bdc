/**
 * Counts the tokens in the texts of a request or an answer, for counts that callers ask for and for
 * usage that a vendor did not state. Escapes and the dialect's own members do not count as text.
 */

import { isObject, type JsonObject, tryParseJson } from '../../../../base/lib/json.ts'
import type { TokensCounted } from '../../../../wire/dialects/relay.ts'
import { countInThread, FREE_WAITING_MAX } from './token-counter.ts'

/** Tokens that the format itself adds to each message, item and tool. */
const TOKENS_PER_ITEM = 3

/** Members that the model does not read, in any dialect. */
const UNREAD = new Set(
  `type model id call_id tool_use_id tool_call_id cache_control signature encrypted_content metadata
  user index status object logprobs finish_reason stop_reason annotations thoughtSignature mimeType
  fileUri finishReason role`.split(/\s+/),
)
/** The model reads these as JSON, keys included. */
const IS_JSON = new Set(['input_schema', 'parameters', 'schema'])
/** Members with media, which have prices of their own. */
const MEDIA = new Set(['data', 'url', 'image_url', 'video_url', 'file_data', 'file_url', 'result'])
/** Members of an answer with its output, of all dialects of text. */
const OUTPUT = ['choices', 'content', 'output', 'candidates']

interface Texts {
  readonly texts: string[]
  /** Tokens of media. */
  others: number
}

/**
 * Returns the input tokens of a request, without those of its media, for a caller who asks for
 * them. Counts for charges have priority: when there are many at once, this one is an estimate.
 */
export function countRequestTokens(request: JsonObject): Promise<number> {
  return count(readTexts(request), FREE_WAITING_MAX)
}

/** Counts the request, and the answer if it was read whole. */
export async function countCall(
  request: JsonObject,
  mediaTokens: number,
  answer: Buffer | undefined,
): Promise<TokensCounted> {
  const input = count(readTexts(request))
  const document = answer && tryParseJson(answer)
  const output = isObject(document) ? await count(readOutput(document)) : 0
  const inputTokens = (await input) + mediaTokens
  return { input_token: inputTokens, ...(output > 0 ? { output_token: output } : {}) }
}

async function count({ texts, others }: Texts, waitingMax?: number): Promise<number> {
  return (await countInThread(texts, waitingMax)) + others
}

function readOutput(document: JsonObject): Texts {
  return { ...readTexts(OUTPUT.map((name) => document[name])), others: 0 }
}

/** Without recursion, since a body may be nested deeply. */
function readTexts(root: unknown): Texts {
  const found: Texts = { texts: [], others: 0 }
  const open: [value: unknown, isJson: boolean][] = [[root, false]]
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, isJson] = next
    if (typeof value === 'string') {
      // Empty texts are skipped: joined with separators, a million of them would become a long
      // text.
      if (value !== '') found.texts.push(value)
    } else if (typeof value === 'number' || typeof value === 'boolean') found.others += 1
    else if (Array.isArray(value)) {
      for (const one of value) {
        if (isObject(one) && !isJson) found.others += TOKENS_PER_ITEM
        open.push([one, isJson])
      }
    } else if (isObject(value)) openMembers(value, isJson, { found, open })
  }
  return found
}

function openMembers(
  value: JsonObject,
  isJson: boolean,
  { found, open }: { readonly found: Texts; readonly open: [unknown, boolean][] },
): void {
  for (const [name, inner] of Object.entries(value)) {
    if (isJson) found.texts.push(`"${name}":`)
    else if (UNREAD.has(name) || (MEDIA.has(name) && isMedia(inner))) continue
    const isCall = name === 'input' && value.type === 'tool_use'
    open.push([inner, isJson || isCall || IS_JSON.has(name)])
  }
}

const BASE64 = /^[A-Za-z0-9+/=_-]+$/
const HEAD_CHARACTERS = 1024

/** Returns true for an address, and for what can only be base64. */
function isMedia(value: unknown): boolean {
  if (typeof value !== 'string') return false
  if (/^(?:https?|data):/i.test(value)) return true
  return value.length >= HEAD_CHARACTERS && BASE64.test(value.slice(0, HEAD_CHARACTERS))
}
