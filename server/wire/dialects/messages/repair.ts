/**
 * Adds what the official SDKs require and some vendors of the format omit: event names, and usage.
 * Events that have them keep their bytes.
 */
import { isObject, type JsonObject, member, printValue, writeJson } from '../../../base/lib/json.ts'
import { estimateTokensOfBytes } from '../../../base/lib/text/estimate-tokens.ts'
import { encodeSseEvent, type SseEvent } from '../sse.ts'

/** The name of an event without an `event` line. */
export const UNNAMED = 'message'

interface Estimates {
  /** Used if the vendor does not state the input tokens. */
  readonly inputTokensEstimate: number
  readonly outputBytes: number
}

/** Returns undefined for an event that needs no repair; `data` is its parsed data. */
export function repairEvent(
  { event, data: text }: SseEvent,
  data: JsonObject,
  state: Estimates,
): Buffer | undefined {
  const repaired = addUsage(data, state)
  const { type } = data
  const isUnnamed = event === UNNAMED && typeof type === 'string'
  if (!isUnnamed && !repaired) return undefined
  return Buffer.from(encodeSseEvent(printValue(type), repaired ? writeJson(repaired) : text))
}

function addUsage(data: JsonObject, state: Estimates): JsonObject | undefined {
  const { type, message, usage } = data
  if (type === 'message_start' && isObject(message) && !isObject(message.usage)) {
    return { ...data, message: { ...message, usage: estimate(state) } }
  }
  const isBare = type === 'message_delta' && !isObject(usage)
  return isBare ? { ...data, usage: estimate(state) } : undefined
}

/** Returns undefined for a message that needs no repair. */
export function repairMessage(document: unknown, state: Estimates): JsonObject | undefined {
  if (!isObject(document) || !Array.isArray(document.content)) return undefined
  return isObject(member(document, 'usage')) ? undefined : { ...document, usage: estimate(state) }
}

function estimate({ inputTokensEstimate, outputBytes }: Estimates): JsonObject {
  const output = estimateTokensOfBytes(outputBytes)
  return { input_tokens: inputTokensEstimate, output_tokens: output }
}
