/** Reads what a chunk of a chat stream, or a whole completion, adds to the answer. */
import { isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import type { Part } from '../parts/part.ts'
import { readContentText, readReasoning } from './read-message.ts'
import type { ToolCallTracker } from './tool-calls.ts'

const EMPTY: JsonObject = {}

/**
 * Reads the first choice, in the order of generation: reasoning, text, tool calls. An answer has
 * one choice, and further ones would mix into it.
 */
export function readChatChunk(document: JsonObject, tools: ToolCallTracker): readonly Part[] {
  const {
    delta: piece,
    message,
    finish_reason: reason,
    stop_reason: stopped,
  } = firstChoice(document)
  const delta = piece ?? message
  const parts = isObject(delta) ? readDelta(delta, tools) : []
  if (isFilled(reason) || isFilled(stopped)) {
    const stopSequence = isFilled(stopped) ? stopped : undefined
    parts.push({ kind: 'reason', reason: readReason(reason), stopSequence })
  }
  return parts
}

/**
 * Vendors' own finish reasons for an incomplete answer (docs/protocols/openai.md#finish-reasons).
 */
const OWN_REASONS: ReadonlyMap<string, string> = new Map([
  ['sensitive', 'content_filter'],
  ['model_length', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['insufficient_system_resource', 'length'],
])

function readReason(reason: unknown): string | undefined {
  return isFilled(reason) ? (OWN_REASONS.get(reason) ?? reason) : undefined
}

function readDelta(delta: JsonObject, tools: ToolCallTracker): Part[] {
  const parts: Part[] = []
  const reasoning = readReasoning(delta)
  if (reasoning !== '') parts.push({ kind: 'reasoning', text: reasoning })
  // A spoken answer comes with its transcript.
  const text = readContentText(delta.content) || readContentText(member(delta.audio, 'transcript'))
  if (text !== '') parts.push({ kind: 'text', text })
  const { annotations } = delta
  if (Array.isArray(annotations)) {
    parts.push({ kind: 'sources', annotations: annotations.filter(isObject) })
  }
  const refusal = readContentText(delta.refusal)
  if (refusal !== '') parts.push({ kind: 'refusal', text: refusal })
  for (const piece of tools.read(delta)) parts.push(piece)
  return parts
}

/** The delta or message of the first choice. */
export function readFirstMessage(document: JsonObject): unknown {
  const choice = firstChoice(document)
  return choice.delta ?? choice.message
}

/** Returns true if the chunk has a choice of any kind; chunks with usage alone have none. */
export function hasChoice({ choices }: JsonObject): boolean {
  return Array.isArray(choices) && choices.some(isObject)
}

/** Returns true for an event of another dialect: those have a type, and chunks have choices. */
export function isForeignEvent({ choices, type }: JsonObject): boolean {
  return typeof type === 'string' && !Array.isArray(choices)
}

function firstChoice(document: JsonObject): JsonObject {
  const { choices } = document
  if (!Array.isArray(choices)) return EMPTY
  const found: unknown = choices.find((choice) => (member(choice, 'index') ?? 0) === 0)
  return isObject(found) ? found : EMPTY
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
