/** The endings of an answer, as parts (docs/protocols/google.md#ends-of-an-answer). */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import type { Part } from '../parts/part.ts'
import { UPSTREAM_ERROR } from '../reported-error.ts'

const LENGTH: ReadonlySet<string> = new Set(['MAX_TOKENS', 'CONTINUATION'])
/** Endings by which the vendor withholds an answer; each states why in one word. */
const REFUSALS: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
])
/** Unspecific endings: with content before them, the answer counts as regular. */
const UNCLEAR: ReadonlySet<string> = new Set(['OTHER', 'NO_IMAGE', 'IMAGE_OTHER'])

export interface AnswerSoFar {
  /** True if the model called a tool. */
  readonly hasCalls: boolean
  /** True if it wrote anything. */
  readonly hasContent: boolean
}

/** Reads the ending that a candidate states. An unknown reason is not a regular ending. */
export function readEnding(candidate: JsonObject, { hasCalls, hasContent }: AnswerSoFar): Part[] {
  const stated = asString(candidate.finishReason) ?? ''
  if (stated === '' || stated === 'FINISH_REASON_UNSPECIFIED') return []
  if (LENGTH.has(stated)) return [{ kind: 'reason', reason: 'length' }]
  if (REFUSALS.has(stated))
    return refuse(`The answer was stopped: ${stated}`, candidate.finishMessage)
  if (stated === 'STOP' || (UNCLEAR.has(stated) && hasContent)) {
    return [{ kind: 'reason', reason: hasCalls ? 'tool_calls' : 'stop' }]
  }
  const said = asString(candidate.finishMessage)?.slice(0, 500)
  const message = `the model ended with ${stated.slice(0, 64)}${said ? `: ${said}` : ''}`
  return [{ kind: 'error', error: { ...UPSTREAM_ERROR, message } }]
}

/** Reads the refusal of a prompt, for which there is no candidate. */
export function readBlocked(feedback: unknown): Part[] {
  const reason = asString(member(feedback, 'blockReason'))
  if (!isObject(feedback) || !reason || reason === 'BLOCK_REASON_UNSPECIFIED') return []
  return refuse(`The prompt was blocked: ${reason}`, feedback.blockReasonMessage)
}

function refuse(text: string, message: unknown): Part[] {
  const said = asString(message)
  const refusal = said ? `${text}: ${said}` : text
  return [
    { kind: 'refusal', text: refusal.slice(0, 1_000), isNotice: true },
    { kind: 'reason', reason: 'content_filter' },
  ]
}
