/** Collects a chat stream into one whole completion, with the upstream's own id and usage. */
import { type JsonObject, writeJson } from '../../../base/lib/json.ts'
import { carrySignature } from '../contents/signature.ts'
import type { ContentPart, Ending, ImagePart, PartCall, PartWriter } from '../parts/part.ts'
import { translateAnswer } from '../parts/translate-answer.ts'
import type { Relay } from '../relay.ts'
import type { ReportedError } from '../reported-error.ts'
import { buildChatError } from './error.ts'
import { ChatReader } from './read-parts.ts'
import type { ChatUsageOptions } from './read-usage.ts'

/**
 * Returns one JSON document at the end: a completion, or an error if the stream broke off. The
 * report has the usage of all events, only part of which is in the document.
 */
export function createChatCollector(options: ChatUsageOptions = {}): Relay {
  const reader = new ChatReader(options)
  return translateAnswer(reader, new CollectedWriter(reader), 'whole')
}

/** Gathers the message of a completion from the parts of an answer. */
export class CompletionContent {
  readonly texts = { text: '', reasoning: '', refusal: '' }
  /** The arguments of each call. */
  readonly calls = new Map<PartCall, string>()
  readonly signatures = new Map<PartCall, string>()
  private readonly annotations: JsonObject[] = []
  private readonly images: JsonObject[] = []
  private mark: string | undefined

  add(part: ContentPart): void {
    switch (part.kind) {
      case 'text':
      case 'reasoning':
      case 'refusal':
        this.texts[part.kind] += part.text
        return
      case 'sources':
        for (const annotation of part.annotations) this.annotations.push(annotation)
        return
      case 'image':
        this.images.push(describeImage(part, this.images.length))
        return
      case 'mark':
        this.mark = part.signature
        return
      case 'call':
        this.calls.set(part.call, (this.calls.get(part.call) ?? '') + part.arguments)
        if (part.signature) this.signatures.set(part.call, part.signature)
    }
  }

  /** Returns the message without its content and calls. */
  describe(): JsonObject {
    const { reasoning, refusal } = this.texts
    return {
      refusal: refusal === '' ? null : refusal,
      ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
      ...(this.annotations.length > 0 ? { annotations: this.annotations } : {}),
      ...(this.images.length > 0 ? { images: this.images } : {}),
      ...carrySignature(this.mark),
    }
  }
}

/** An image of an answer, as routers write it into chat. */
export function describeImage({ media, data, signature }: ImagePart, index: number): JsonObject {
  const url = `data:${media};base64,${data}`
  return { type: 'image_url', index, image_url: { url }, ...carrySignature(signature) }
}

class CollectedWriter implements PartWriter {
  private readonly reader: ChatReader
  private readonly content = new CompletionContent()
  private out = ''

  constructor(reader: ChatReader) {
    this.reader = reader
  }

  add(part: ContentPart): void {
    this.content.add(part)
  }

  finish({ reason, stopSequence }: Ending): void {
    const { id, created = 0, model, tier } = this.reader.head
    const calls = [...this.content.calls].map(([call, text]) => ({
      id: call.id || `call_${call.position}`,
      type: 'function',
      function: { name: call.name, arguments: text },
    }))
    const message = {
      role: 'assistant',
      content: this.content.texts.text === '' ? null : this.content.texts.text,
      ...this.content.describe(),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    }
    const choice: JsonObject = {
      index: 0,
      message,
      finish_reason: reason ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
      ...(stopSequence === undefined ? {} : { stop_reason: stopSequence }),
    }
    this.out = writeJson({
      id,
      object: 'chat.completion',
      created,
      model,
      choices: [choice],
      usage: this.reader.rawUsage(),
      service_tier: tier,
    })
  }

  fail(error: ReportedError): void {
    this.out = writeJson(buildChatError(error))
  }

  take(): string {
    return this.out
  }

  heldBytes(): number {
    return 0
  }

  isOverfull(): boolean {
    return false
  }
}
