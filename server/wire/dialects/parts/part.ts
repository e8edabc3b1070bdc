/**
 * An answer as a sequence of parts, independent of any dialect. Each dialect has one reader, which
 * makes parts of an event or of a whole answer, and one writer for each form that it answers in.
 */
import type { JsonObject } from '../../../base/lib/json.ts'
import type { ReportedError } from '../reported-error.ts'
import type { SseEvent } from '../sse.ts'
import type { BodyReading } from '../tap.ts'
import type { UsageReading } from '../usage/usage-reading.ts'

/** A call of a tool; the same object in all of its parts. */
export interface PartCall {
  /** Order of first appearance, from 0. */
  readonly position: number
  /** Empty if the upstream sent none, or one that an earlier call has. */
  readonly id: string
  /** Empty until the upstream names the tool. */
  readonly name: string
}

/** Content of an answer; it comes in the order of generation. */
export type ContentPart =
  /** The answer has begun, if only with a role. */
  | { readonly kind: 'begin' }
  | { readonly kind: 'text' | 'reasoning'; readonly text: string }
  /** `isNotice`: a message of the vendor about its filter, which the model did not write. */
  | { readonly kind: 'refusal'; readonly text: string; readonly isNotice?: boolean }
  /** The end of reasoning whose text came before, signed by its vendor. */
  | { readonly kind: 'signature'; readonly signature: string }
  /** Encrypted reasoning that only its vendor can read. */
  | { readonly kind: 'sealed'; readonly data: string }
  /** A signature of the text, which its vendor reads again in the next turn. */
  | { readonly kind: 'mark'; readonly signature: string }
  | ImagePart
  /** Sources of the text: `{type: 'url_citation', url_citation}`. */
  | { readonly kind: 'sources'; readonly annotations: readonly JsonObject[] }
  | SearchPart
  | CallPart

/** A picture that the model made. */
export interface ImagePart {
  readonly kind: 'image'
  /** For example `image/png`. */
  readonly media: string
  /** In base64. */
  readonly data: string
  /** Its vendor's signature, which must be sent back with it. */
  readonly signature?: string | undefined
}

/** The beginning of a search that the vendor runs, or its end. */
export interface SearchPart {
  readonly kind: 'search'
  readonly id: unknown
  readonly query?: string
  /** Stated at the end. */
  readonly status?: 'completed' | 'failed'
  /** The addresses that were found. */
  readonly urls?: readonly string[]
}

export interface CallPart {
  readonly kind: 'call'
  readonly call: PartCall
  /** A fragment of the arguments' JSON text, verbatim. */
  readonly arguments: string
  /** True if the arguments are whole with this part. */
  readonly isComplete: boolean
  /** The vendor's signature, which must be sent back with the call; in its first part. */
  readonly signature?: string | undefined
}

/** The reason of an ending; undefined where it is not stated. */
export interface Reason {
  /** In the words of chat: `stop`, `length`, `tool_calls`, `content_filter`. */
  readonly reason: string | undefined
  /** The stop string that was hit. */
  readonly stopSequence?: string | undefined
}

export type Part =
  | ContentPart
  /** An answer with this reason is complete, even if its end is missing. */
  | ({ readonly kind: 'reason' } & Reason)
  /** The end of the answer. */
  | { readonly kind: 'done' }
  | { readonly kind: 'error'; readonly error: ReportedError }

export const BEGIN: Part = { kind: 'begin' }
export const DONE: Part = { kind: 'done' }
export const NO_PARTS: readonly Part[] = []

/** Reads one answer of a dialect, and its usage in the vendor's own terms. */
export interface PartReader {
  /**
   * True if a stream that broke off after a complete answer counts as work, so that no other route
   * is tried.
   */
  readonly countsBroken: boolean
  event(event: SseEvent): readonly Part[]
  /** Returns the parts that are known once all others are: sources and searches. */
  last?(): readonly ContentPart[]
  /** Reads the usage of an event after the end. */
  late(event: SseEvent): void
  /** Reads a document in place of events: a whole answer, an error, or undefined for no JSON. */
  whole(document: unknown): { readonly reading: BodyReading; readonly parts: readonly Part[] }
  /** Returns what the events so far state. */
  reading(): UsageReading
  /** Tokens of reasoning, which are a part of the output, if they are stated. */
  reasoningTokens(): number | undefined
}

/** The state at the end of an answer. */
export interface Ending extends Reason {
  readonly reading: UsageReading
  readonly reasoningTokens: number | undefined
  /** UTF-8 bytes of what the model wrote. */
  readonly outputBytes: number
}

/** Writes one answer, as events or as one document at its end. */
export interface PartWriter {
  add(part: ContentPart): void
  /** Writes the regular ending. */
  finish(ending: Ending): void
  /** Writes the error that ends the answer; open parts stay open. */
  fail(error: ReportedError): void
  /** Returns the output written since the last call. */
  take(): string
  /** The approximate number of bytes that are kept until the end or until their turn. */
  heldBytes(): number
  /** True if a stream keeps more than it may. */
  isOverfull(): boolean
}
