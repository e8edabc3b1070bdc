/** Reads an answer of the contents format, a stream or a whole one, as parts. */

import { tryParseExact } from '../../../base/lib/exact-numbers.ts'
import { asString, isObject, type JsonObject, member, writeJson } from '../../../base/lib/json.ts'
import { parseEventData } from '../parse-event-data.ts'
import {
  BEGIN,
  type CallPart,
  type ContentPart,
  NO_PARTS,
  type Part,
  type PartReader,
} from '../parts/part.ts'
import { countBytes } from '../parts/translate-answer.ts'
import { type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'
import type { SseEvent } from '../sse.ts'
import type { UsageReading } from '../usage/usage-reading.ts'
import { readBlocked, readEnding } from './endings.ts'
import { annotate, listSources, QuotedPassages, readSupports } from './grounding.ts'
import { readGoogleError } from './read-error.ts'
import { ContentsUsage, type ContentsUsageOptions } from './read-usage.ts'

/** The most text that is kept to locate citations in it: far more than most answers have. */
const KEPT_TEXT_MAX = 65_536

export interface ContentsReaderOptions extends ContentsUsageOptions {
  /** True if the request lets the vendor search, so that sources must be located in the text. */
  readonly isGrounded: boolean
  /**
   * True if every candidate counts, and not only the first, because the answer passes unchanged.
   */
  readonly readsAll?: boolean
}

export class ContentsReader implements PartReader {
  readonly countsBroken = true
  private readonly options: ContentsReaderOptions
  private readonly usage: ContentsUsage
  private readonly callIds = new Set<string>()
  private callCount = 0
  private hasBegun = false
  private hasContent = false
  /** True once a regular end was stated. */
  private hasStopped = false
  private texts: string[] = []
  private textLength = 0
  private grounding: JsonObject | undefined
  private readonly quoted = new QuotedPassages()
  /** The last signature of a text, which may be on an empty one at the end. */
  private mark: string | undefined

  constructor(options: ContentsReaderOptions) {
    this.options = options
    this.usage = new ContentsUsage(options)
  }

  event(event: SseEvent): readonly Part[] {
    const document = tryParseExact(Buffer.from(event.data))
    if (isObject(document)) return this.readChunk(document)
    return event.data.trim() === '[DONE]' ? NO_PARTS : [{ kind: 'error', error: UPSTREAM_ERROR }]
  }

  late(event: SseEvent): void {
    const document = parseEventData(event)
    if (document) this.usage.read(document)
  }

  whole(document: unknown) {
    const parts = isObject(document) ? this.readChunk(document) : [lost()]
    let outputBytes = 0
    let error: ReportedError | undefined = this.hasBegun ? undefined : UPSTREAM_ERROR
    for (const part of parts) {
      outputBytes += countBytes(part)
      if (part.kind === 'error') error = part.error
    }
    return { reading: { ...this.usage.reading(), outputBytes, ...(error ? { error } : {}) }, parts }
  }

  last(): readonly ContentPart[] {
    const { grounding, mark } = this
    const parts: ContentPart[] = []
    const passages = [...(grounding ? readSupports(grounding) : []), ...this.quoted.list()]
    if (passages.length > 0) {
      parts.push({ kind: 'sources', annotations: annotate(passages, this.texts.join('')) })
    }
    if (grounding) {
      const urls = listSources(grounding)
      for (const query of this.usage.searches()) {
        parts.push({ kind: 'search', id: query, query, status: 'completed', urls })
      }
    }
    if (mark !== undefined) parts.push({ kind: 'mark', signature: mark })
    return parts
  }

  reading(): UsageReading {
    return this.usage.reading()
  }

  reasoningTokens(): number | undefined {
    return this.usage.thoughts()
  }

  private readChunk(document: JsonObject): readonly Part[] {
    this.usage.read(document)
    const error = readGoogleError(document)
    if (error) {
      const { message = UPSTREAM_ERROR.message, status } = error
      const type = status === 'UNAVAILABLE' ? 'overloaded_error' : UPSTREAM_ERROR.type
      return [{ kind: 'error', error: { type, message } }]
    }
    const candidates = this.candidatesOf(document)
    const isEmpty = candidates.length === 0
    const parts = isEmpty
      ? readBlocked(document.promptFeedback)
      : candidates.flatMap((one) => this.readCandidate(one))
    if (isEmpty && parts.length > 0) this.usage.noteBlocked()
    if (this.hasBegun || (isEmpty && parts.length === 0)) return parts
    this.hasBegun = true
    return [BEGIN, ...parts]
  }

  /** A translated answer has one candidate; the text of further ones would be mixed into it. */
  private candidatesOf({ candidates }: JsonObject): readonly JsonObject[] {
    const all: readonly unknown[] = Array.isArray(candidates) ? candidates : []
    if (this.options.readsAll) return all.filter(isObject)
    return [all.find((one) => (member(one, 'index') ?? 0) === 0)].filter(isObject)
  }

  private readCandidate(candidate: JsonObject): Part[] {
    const parts: Part[] = []
    const pieces = member(candidate.content, 'parts')
    for (const piece of Array.isArray(pieces) ? pieces : []) {
      if (isObject(piece)) parts.push(...this.readPiece(piece))
    }
    const pictures = parts.filter(({ kind }) => kind === 'image').length
    if (parts.length > 0) this.usage.noteOutput(pictures)
    this.hasContent ||= parts.some(({ kind }) => kind !== 'reasoning')
    this.noteGrounding(candidate.groundingMetadata)
    this.usage.notePages(candidate.urlContextMetadata)
    if (!this.options.readsAll) this.quoted.read(candidate.citationMetadata)
    const hasCalls = this.callCount > 0
    const ending = readEnding(candidate, { hasCalls, hasContent: this.hasContent })
    const isCalledLate = this.hasStopped && ending.length === 0 && parts.some(isCall)
    this.hasStopped ||= candidate.finishReason === 'STOP'
    parts.push(...ending)
    // The ending may come before the call, in a piece of its own.
    if (isCalledLate) parts.push({ kind: 'reason', reason: 'tool_calls' })
    return parts
  }

  private noteGrounding(metadata: unknown): void {
    this.usage.noteGrounding(metadata)
    if (!this.options.isGrounded || !isObject(metadata)) return
    const { groundingChunks = this.grounding?.groundingChunks } = metadata
    const { groundingSupports = this.grounding?.groundingSupports } = metadata
    this.grounding = { groundingChunks, groundingSupports }
  }

  private readPiece(piece: JsonObject): readonly Part[] {
    const { functionCall: call, inlineData: data, thought } = piece
    const signature = asString(piece.thoughtSignature) || undefined
    if (isObject(call)) return [this.readCall(call, signature)]
    if (isObject(data)) {
      if (!isImage(data)) this.usage.noteMedia()
      return thought === true ? NO_PARTS : readImage(data, signature)
    }
    this.mark = signature ?? this.mark
    const text = asString(piece.text) ?? ''
    if (text === '') return NO_PARTS
    if (thought === true) return [{ kind: 'reasoning', text }]
    this.keepText(text)
    return [{ kind: 'text', text }]
  }

  private keepText(text: string): void {
    const { isGrounded, readsAll } = this.options
    if (readsAll || (!isGrounded && this.textLength >= KEPT_TEXT_MAX)) return
    this.texts.push(text)
    this.textLength += text.length
  }

  private readCall(called: JsonObject, signature: string | undefined): CallPart {
    const { id, name, args, partialArgs: pieces } = called
    const stated = asString(id) ?? ''
    const position = this.callCount
    this.callCount += 1
    const call = {
      position,
      id: this.callIds.has(stated) ? '' : stated,
      name: asString(name) ?? '',
    }
    this.callIds.add(stated)
    // Calls arrive in pieces only for callers of the format itself: no translation requests that.
    const isPiece = this.options.readsAll && Array.isArray(pieces)
    const text = writeJson(isPiece ? pieces : isObject(args) ? args : {})
    return { kind: 'call', call, arguments: text, isComplete: true, signature }
  }
}

const lost = (): Part => ({ kind: 'error', error: UPSTREAM_ERROR })
const isCall = ({ kind }: Part) => kind === 'call'

const isImage = ({ mimeType }: JsonObject) => asString(mimeType)?.startsWith('image/') ?? false

function readImage(image: JsonObject, signature: string | undefined): readonly Part[] {
  const { mimeType, data } = image
  if (!isImage(image) || typeof data !== 'string') return NO_PARTS
  return [{ kind: 'image', media: asString(mimeType) ?? '', data, signature }]
}
