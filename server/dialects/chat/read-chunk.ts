/** Reads what a chunk of a chat stream, or a whole completion, adds to the answer. */
import { asString, isObject, type JsonObject, member } from '../../lib/json.ts'
import { readContentText, readReasoning } from './read-message.ts'
import type { ToolCallPiece, ToolCallTracker } from './tool-calls.ts'

/** A block of reasoning, or the end of one whose text came before. */
export interface SignedReasoning {
  /** Empty if it came as `reasoning`. */
  readonly text: string
  /** The vendor's signature of the text. */
  readonly signature: string
  /** Reasoning that only its vendor can read, in place of a text. */
  readonly data: string
}

export interface ChatDelta {
  /** In the order of generation: reasoning, text, tool calls. Empty if absent. */
  readonly reasoning: string
  readonly text: string
  readonly refusal: string
  /** Blocks of reasoning that their vendor wants back, from a translation. */
  readonly signed: readonly SignedReasoning[]
  /** Sources of the text: `{type: 'url_citation', url_citation}`. */
  readonly annotations: readonly JsonObject[]
  /** Searches that the vendor runs, from a translation: their beginning, then their end. */
  readonly searches: readonly JsonObject[]
  readonly tools: readonly ToolCallPiece[]
  /** The finish reason, once stated. */
  readonly reason: string | undefined
  /** The stop string that was hit, from upstreams that state it (vLLM). */
  readonly stopSequence: string | undefined
}

const EMPTY: JsonObject = {}

/** Reads the first choice; an answer has one, and further ones would mix into it. */
export function readChatChunk(document: JsonObject, tools: ToolCallTracker): ChatDelta {
  const choice = firstChoice(document)
  const content = readFirstMessage(document)
  const delta = isObject(content) ? content : EMPTY
  const { finish_reason: reason, stop_reason: stopped } = choice
  return {
    reasoning: readReasoning(delta),
    // A spoken answer has its words beside it.
    text: readContentText(delta.content) || readContentText(member(delta.audio, 'transcript')),
    refusal: readContentText(delta.refusal),
    signed: readSigned(delta.signed_reasoning),
    annotations: readObjects(delta.annotations),
    searches: readObjects(delta.hosted_searches),
    tools: tools.read(delta),
    reason: readFilled(reason),
    stopSequence: readFilled(stopped),
  }
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

function readFilled(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

const NONE: readonly never[] = []

function readObjects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : NONE
}

function readSigned(value: unknown): readonly SignedReasoning[] {
  if (value === undefined) return NONE
  return readObjects(value).map(({ thinking, signature, data }) => ({
    text: asString(thinking) ?? '',
    signature: asString(signature) ?? '',
    data: asString(data) ?? '',
  }))
}
