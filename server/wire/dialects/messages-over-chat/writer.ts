/**
 * Writes an answer as a message. As a stream: one `message_start`, blocks in sequence, one
 * `message_delta`, one `message_stop`; a body that breaks off ends with an `error` event.
 */
import { asString, isObject, type JsonObject, member, writeJson } from '../../../base/lib/json.ts'
import { ChatReader } from '../chat/read-parts.ts'
import { markSignature } from '../contents/signature.ts'
import { buildMessagesError, encodeMessagesError } from '../messages/error.ts'
import type { ContentPart, Ending, PartCall, PartWriter } from '../parts/part.ts'
import { translateAnswer } from '../parts/translate-answer.ts'
import type { Relay } from '../relay.ts'
import type { ReportedError } from '../reported-error.ts'
import { encodeSseEvent } from '../sse.ts'
import { buildMessageUsage, type MessageAnswerOptions, mintToolId, toStopFields } from './answer.ts'
import { BlockWriter } from './block-writer.ts'

/** Translates a chat answer to the events of a message. */
export function createMessagesStream(options: MessageAnswerOptions): Relay {
  return translateAnswer(
    new ChatReader(options.usage),
    new MessagesWriter(options, 'stream'),
    'stream',
  )
}

/** Translates a chat answer to a message, at its end. */
export function createMessagesBody(options: MessageAnswerOptions): Relay {
  return translateAnswer(
    new ChatReader(options.usage),
    new MessagesWriter(options, 'whole'),
    'whole',
  )
}

const NO_STOP = { stop_reason: null, stop_sequence: null }

export class MessagesWriter implements PartWriter {
  private readonly options: MessageAnswerOptions
  private readonly isWhole: boolean
  private readonly blocks: BlockWriter
  private readonly prefill: ReturnType<typeof createPrefillCutter>
  private out = ''
  private hasStarted = false
  private hasRefusal = false
  private hasTools = false

  constructor(options: MessageAnswerOptions, form: 'stream' | 'whole') {
    const { toolNames, prefill } = options.context
    this.options = options
    this.prefill = createPrefillCutter(prefill)
    this.isWhole = form === 'whole'
    const describeCall = ({ id, name, position }: PartCall) => ({
      type: 'tool_use',
      id: id || mintToolId(options.id, position),
      name: name === '' ? 'unknown' : toolNames.fromChat(name),
      input: {},
    })
    this.blocks = new BlockWriter(describeCall, this.isWhole)
  }

  add(part: ContentPart): void {
    switch (part.kind) {
      case 'begin':
        this.start()
        return
      case 'reasoning':
        if (this.options.context.showsThinking) this.blocks.addText('thinking', part.text)
        return
      case 'text':
        this.blocks.addText('text', this.prefill.push(part.text))
        return
      case 'refusal':
        this.hasRefusal = true
        this.blocks.addText('text', part.text)
        return
      case 'image':
        if (part.signature) this.blocks.sign(markSignature(part.signature))
        this.blocks.addImage(part)
        return
      case 'mark':
        // It is worth returning, but not a reason to send thinking to callers who did not request
        // it.
        if (this.options.context.showsThinking) this.blocks.sign(markSignature(part.signature))
        return
      case 'sources':
        for (const annotation of part.annotations) {
          const citation = toCitation(annotation)
          if (citation) this.blocks.addCitation(citation)
        }
        return
      case 'call':
        this.hasTools = true
        this.blocks.addText('text', this.prefill.end())
        if (part.signature) this.blocks.sign(markSignature(part.signature))
        this.blocks.addTool(part)
    }
  }

  heldBytes(): number {
    return this.blocks.heldBytes()
  }

  isOverfull(): boolean {
    return this.blocks.isOverfull()
  }

  finish({ reason, stopSequence, reading, reasoningTokens, outputBytes }: Ending): void {
    this.blocks.addText('text', this.prefill.end())
    const { hasRefusal, hasTools } = this
    const stop = toStopFields({ reason, stopSequence, hasTools, hasRefusal })
    const { inputTokensEstimate } = this.options
    const usage = buildMessageUsage(reading, inputTokensEstimate, outputBytes, reasoningTokens)
    if (this.isWhole) {
      this.out = writeJson(this.buildMessage({ content: this.blocks.build(), ...stop, usage }))
      return
    }
    this.blocks.finish()
    this.out += this.blocks.take()
    this.write({ type: 'message_delta', delta: stop, usage })
    this.write({ type: 'message_stop' })
  }

  fail(error: ReportedError): void {
    if (this.isWhole) this.out = writeJson(buildMessagesError(error))
    else this.out += this.blocks.take() + encodeMessagesError(error)
  }

  take(): string {
    const text = this.out + this.blocks.take()
    this.out = ''
    return text
  }

  private start(): void {
    if (this.hasStarted || this.isWhole) return
    this.hasStarted = true
    const usage = buildMessageUsage({}, this.options.inputTokensEstimate, 0)
    const message = this.buildMessage({ content: [], ...NO_STOP, usage })
    this.write({ type: 'message_start', message })
  }

  private buildMessage(fields: JsonObject): JsonObject {
    const { id, model } = this.options
    return { id, type: 'message', role: 'assistant', model, ...fields }
  }

  private write(event: { readonly type: string; readonly [field: string]: unknown }): void {
    this.out += encodeSseEvent(event.type, writeJson(event))
  }
}

/**
 * Returns undefined for annotations of another type. The index, by which the messages format's
 * own vendor finds the passage again, stays empty: only that vendor can create it.
 */
function toCitation(annotation: JsonObject): JsonObject | undefined {
  const { type, url_citation: citation } = annotation
  const url = asString(member(citation, 'url'))
  if (type !== 'url_citation' || !isObject(citation) || !url) return undefined
  return {
    type: 'web_search_result_location',
    url,
    title: asString(citation.title) ?? null,
    cited_text: asString(citation.content) ?? '',
    encrypted_index: '',
  }
}

export interface PrefillCutter {
  /** Adds text of the answer; returns the part that is new. */
  readonly push: (text: string) => string
  /** Returns text that was held back as a possible repetition. */
  readonly end: () => string
}

function createPrefillCutter(prefill: string): PrefillCutter {
  /** Characters of it that were repeated, and are held back. */
  let repeated = 0
  let isOver = prefill === ''

  function takeHeld(): string {
    const held = prefill.slice(0, repeated)
    repeated = 0
    isOver = true
    return held
  }

  return {
    push(text) {
      if (isOver) return text
      if (repeated + text.length < prefill.length && prefill.startsWith(text, repeated)) {
        repeated += text.length
        return ''
      }
      const said = takeHeld() + text
      return said.startsWith(prefill) ? said.slice(prefill.length) : said
    },
    end: takeHeld,
  }
}
