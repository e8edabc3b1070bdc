/** Declares the part of the chat request format that the translation writes. */
import type { ChatQuirks } from '../chat/quirks.ts'

export type ChatPart = TextPart | ImagePart | FilePart

export interface TextPart {
  readonly type: 'text'
  readonly text: string
}

interface ImagePart {
  readonly type: 'image_url'
  readonly image_url: { readonly url: string }
}

interface FilePart {
  readonly type: 'file'
  readonly file: { readonly filename: string; readonly file_data: string }
}

export interface ChatToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
  readonly extra_content?: unknown
}

/** Reasoning as its vendor signed it, or as data that only the vendor can read. */
export type SignedThinking =
  | { readonly thinking: string; readonly signature: string }
  | { readonly data: string }

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string | readonly ChatPart[] | null
  tool_calls?: readonly ChatToolCall[]
  tool_call_id?: string
  reasoning_content?: string
  reasoning?: string
  /** Reasoning with signatures, for a translation to the messages format. */
  thinking_blocks?: readonly SignedThinking[]
  /** Images of an earlier answer, for a translation to the format of their vendor. */
  images?: readonly ChatPart[]
  /** The signature of an earlier text, for a translation to the format of its vendor. */
  extra_content?: unknown
  /** True for a result of a call that failed, for a translation to the messages format. */
  is_error?: true
  prefix?: true
  partial?: true
}

const BLANK = ' '

/** Adds earlier reasoning in the vendor's field, if it has one. */
export function addReasoning(message: ChatMessage, reasoning: string, quirks: ChatQuirks): void {
  const { reasoning_field: field, reasoningBesideCalls } = quirks
  if (!field) return
  if (reasoning !== '') message[field] = reasoning
  else if (reasoningBesideCalls && message.tool_calls) message[field] = BLANK
}

/** Returns plain text as one string, since not every vendor accepts a list of parts. */
export function joinParts(parts: readonly ChatPart[]): string | readonly ChatPart[] {
  return parts.every(isTextPart) ? parts.map(({ text }) => text).join('\n') : parts
}

export function isTextPart(part: ChatPart): part is TextPart {
  return part.type === 'text'
}

export function textPart(text: string): TextPart {
  return { type: 'text', text }
}

export const LEFT_OUT = '[an image or a file was left out: this model cannot take it here]'

/** Returns a text for every part, where nothing else is accepted. */
export function withoutMedia(part: ChatPart): TextPart {
  return isTextPart(part) ? part : textPart(LEFT_OUT)
}
