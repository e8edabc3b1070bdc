/** Collects a messages stream into one whole message. */

import { tryParseExact } from '../../../base/lib/exact-numbers.ts'
import { asString, isObject, type JsonObject, member, writeJson } from '../../../base/lib/json.ts'
import { parseEventData } from '../parse-event-data.ts'
import type { Relay } from '../relay.ts'
import { type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'
import { ANSWER_EVENT_BYTES_MAX, createSseParser } from '../sse.ts'
import { buildMessagesError } from './error.ts'
import { mergeMessagesUsage, withoutPlaceholders } from './merge-usage.ts'
import { readMessagesError } from './read-error.ts'

/** Returns one JSON document at the end: a message, or an error if the stream broke off. */
export function createMessagesCollector(): Relay {
  return new MessagesCollector()
}

/** A block as it grows; the input of a call arrives as pieces of JSON. */
interface OpenBlock {
  readonly block: JsonObject
  /** Fields that deltas add to. */
  readonly texts: Map<string, string>
  readonly citations: unknown[]
  input: string
}

/** The fields that a delta adds text to, by its type. */
const TEXT_FIELDS: ReadonlyMap<unknown, string> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['signature_delta', 'signature'],
])

class MessagesCollector implements Relay {
  private readonly parser = createSseParser({
    limitBytes: ANSWER_EVENT_BYTES_MAX,
    onEvent: (event) => this.onData(parseEventData(event)),
    onOverflow: () => this.onError(UPSTREAM_ERROR),
  })
  private message: Map<string, unknown> | undefined
  private readonly blocks = new Map<unknown, OpenBlock>()
  private usage: unknown
  private isDone = false
  private error: ReportedError | undefined

  push(chunk: Buffer): undefined {
    this.parser.push(chunk)
  }

  end(): Buffer {
    this.parser.end()
    if (!this.isDone || !this.message) this.onError(UPSTREAM_ERROR)
    return Buffer.from(writeJson(this.error ? buildMessagesError(this.error) : this.build()))
  }

  fail(): undefined {
    this.onError(UPSTREAM_ERROR)
  }

  report() {
    const { isDone: finished, error } = this
    return { outputBytes: 0, finished, error }
  }

  private onError(error: ReportedError): void {
    this.error ??= error
  }

  private onData(data: JsonObject | undefined): void {
    if (this.isDone || this.error) return
    if (!data) this.onError(UPSTREAM_ERROR)
    else this.onEvent(data)
  }

  private onEvent(data: JsonObject): void {
    const { index, content_block: block, delta } = data
    switch (data.type) {
      case 'message_start':
        if (isObject(data.message)) this.message = new Map(Object.entries(data.message))
        this.usage = withoutPlaceholders(member(data.message, 'usage'))
        return
      case 'content_block_start':
        if (isObject(block)) this.blocks.set(index, openBlock(block))
        return
      case 'content_block_delta':
        this.onDelta(this.blocks.get(index), delta)
        return
      case 'message_delta':
        this.message ??= new Map()
        for (const [name, value] of Object.entries(isObject(delta) ? delta : {})) {
          this.message.set(name, value)
        }
        this.usage = mergeMessagesUsage(this.usage, data.usage)
        return
      case 'message_stop':
        this.isDone = true
        return
      default: {
        const error = readMessagesError(data)
        if (error) this.onError(error)
      }
    }
  }

  private onDelta(open: OpenBlock | undefined, delta: unknown): void {
    if (!open || !isObject(delta)) return
    const field = TEXT_FIELDS.get(delta.type)
    if (field !== undefined) {
      const known = open.texts.get(field) ?? asString(open.block[field]) ?? ''
      open.texts.set(field, known + (asString(delta[field]) ?? ''))
    } else if (delta.type === 'input_json_delta') {
      open.input += asString(delta.partial_json) ?? ''
    } else if (delta.type === 'citations_delta') {
      open.citations.push(delta.citation)
    }
  }

  private build(): JsonObject {
    const content = [...this.blocks.values()].map(closeBlock)
    return { ...Object.fromEntries(this.message ?? []), content, usage: this.usage ?? {} }
  }
}

/** Broken arguments are kept as text inside an object: they are billed. */
function openBlock(block: JsonObject): OpenBlock {
  const { citations } = block
  return {
    block,
    texts: new Map(),
    citations: Array.isArray(citations) ? [...citations] : [],
    input: '',
  }
}

function closeBlock({ block, texts, citations, input }: OpenBlock): JsonObject {
  const parsed = input.trim() === '' ? undefined : tryParseExact(Buffer.from(input))
  return {
    ...block,
    ...Object.fromEntries(texts),
    ...(citations.length > 0 ? { citations } : {}),
    ...(parsed === undefined && input.trim() === ''
      ? {}
      : { input: isObject(parsed) ? parsed : { raw_arguments: input } }),
  }
}
