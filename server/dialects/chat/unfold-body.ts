/** Converts a whole completion to a chat stream. */
import { isObject, type JsonObject, tryParseJson, writeJson } from '../../lib/json.ts'
import type { Relay } from '../relay.ts'
import { encodeSseEvent } from '../sse.ts'

/** A completion as a single chunk: each choice's `message` becomes its `delta`. */
export function unfoldCompletion(document: JsonObject): JsonObject {
  const { choices } = document
  if (!Array.isArray(choices)) return document
  return { ...document, object: 'chat.completion.chunk', choices: choices.map(unfoldChoice) }
}

function unfoldChoice(choice: unknown, position: number): unknown {
  if (!isObject(choice)) return choice
  const { message, ...rest } = choice
  return { index: position, ...rest, delta: isObject(message) ? numberCalls(message) : {} }
}

/** Tool calls have a position in a whole message, and an index in a stream. */
function numberCalls(message: JsonObject): JsonObject {
  const { tool_calls: calls } = message
  if (!Array.isArray(calls)) return message
  const numbered = calls.map((call, index) => (isObject(call) ? { ...call, index } : call))
  return { ...message, tool_calls: numbered }
}

/** Collects a JSON body and returns it as a stream once it is whole. Other bytes pass. */
export function createChatUnfolder(): Relay {
  const chunks: Buffer[] = []
  return {
    push(chunk) {
      chunks.push(chunk)
      return undefined
    },
    end() {
      const body = Buffer.concat(chunks)
      const document = tryParseJson(body)
      const data = isObject(document)
        ? writeJson(unfoldCompletion(document))
        : body.toString('utf8')
      return Buffer.from(`${encodeSseEvent(undefined, data)}data: [DONE]\n\n`)
    },
    fail: () => undefined,
    report: () => ({ outputBytes: 0, finished: false }),
  }
}
