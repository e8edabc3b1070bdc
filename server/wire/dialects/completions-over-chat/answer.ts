/** Translates chat answers to completions: a message becomes text, and its own usage stays. */
import {
  asString,
  isObject,
  type JsonObject,
  member,
  tryParseJson,
  writeJson,
} from '../../../base/lib/json.ts'
import { buildChatError, encodeChatError } from '../chat/error.ts'
import { readChatBody } from '../chat/read-body.ts'
import { readChatError } from '../chat/read-error.ts'
import { parseEventData } from '../parse-event-data.ts'
import type { Relay, RelayReport } from '../relay.ts'
import { UPSTREAM_ERROR } from '../reported-error.ts'
import { ANSWER_EVENT_BYTES_MAX, createSseParser, encodeSseEvent, type SseEvent } from '../sse.ts'

export interface CompletionOptions {
  /** The model id that the caller named. */
  readonly model: string
}

/** Translates one document. */
export function createCompletionBody({ model }: CompletionOptions): Relay {
  const chunks: Buffer[] = []
  let report: RelayReport = { outputBytes: 0, finished: false }
  return {
    push(chunk) {
      chunks.push(chunk)
      return undefined
    },
    end() {
      const document = tryParseJson(Buffer.concat(chunks))
      const reading = readChatBody(document)
      report = { ...reading, finished: true }
      if (isObject(document) && !reading.error) {
        return Buffer.from(writeJson(translateDocument(document, model, 'message')))
      }
      return Buffer.from(writeJson(buildChatError(reading.error ?? UPSTREAM_ERROR)))
    },
    fail: () => undefined,
    report: () => report,
  }
}

/** Translates a stream; whether the caller gets a usage chunk is already decided. */
export function createCompletionStream({ model }: CompletionOptions): Relay {
  let out = ''
  const parser = createSseParser({
    limitBytes: ANSWER_EVENT_BYTES_MAX,
    onEvent: (event) => {
      out += translateEvent(event, model)
    },
  })
  const take = () => {
    const text = out
    out = ''
    return text === '' ? undefined : Buffer.from(text)
  }
  return {
    push(chunk) {
      parser.push(chunk)
      return take()
    },
    end() {
      parser.end()
      return take()
    },
    fail: ({ type, message }) => Buffer.from(encodeChatError({ type, message })),
    report: () => ({ outputBytes: 0, finished: true }),
    heldBytes: parser.heldBytes,
  }
}

/** Errors and the end are the same in both dialects. */
function translateEvent(event: SseEvent, model: string): string {
  const document = parseEventData(event)
  if (!document || readChatError(document)) return encodeSseEvent(event.event, event.data)
  const translated = translateDocument(document, model, 'delta')
  const { choices, usage } = translated
  const hasNews = Array.isArray(choices) && choices.some(hasContent)
  if (!hasNews && !isObject(usage)) return ''
  return encodeSseEvent(undefined, writeJson(translated))
}

/** A chat stream begins with a chunk that has only a role. */
function hasContent(choice: JsonObject): boolean {
  return choice.text !== '' || choice.finish_reason !== null
}

/** If an answer has no other text, its refusal is the text. */
function readText(message: unknown): string {
  return asString(member(message, 'content')) || (asString(member(message, 'refusal')) ?? '')
}

function translateDocument(
  document: JsonObject,
  model: string,
  part: 'message' | 'delta',
): JsonObject {
  const { id, created, choices, usage, ...rest } = document
  return {
    ...rest,
    id: (asString(id) ?? '').replace(/^chatcmpl-/, 'cmpl-'),
    object: 'text_completion',
    created,
    model,
    choices: (Array.isArray(choices) ? choices.filter(isObject) : []).map((choice) => ({
      text: readText(choice[part]),
      index: choice.index,
      logprobs: null,
      finish_reason: asString(choice.finish_reason) ?? null,
    })),
    usage,
  }
}
