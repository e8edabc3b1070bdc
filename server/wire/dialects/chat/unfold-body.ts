/** Converts a whole completion to a chat stream. */
import {
  isObject,
  type JsonObject,
  member,
  tryParseJson,
  writeJson,
} from '../../../base/lib/json.ts'
import type { Relay } from '../relay.ts'
import { UPSTREAM_ERROR } from '../reported-error.ts'
import { encodeSseEvent } from '../sse.ts'
import { createUnfolder } from '../unfold-document.ts'
import { encodeChatError } from './error.ts'
import { readChatBody } from './read-body.ts'
import { readChatError } from './read-error.ts'

/**
 * A completion as a single chunk: each choice's `message` becomes its `delta`. Choices that do not
 * count from 0 are numbered by their position: the first would be read as missing.
 */
export function unfoldCompletion(document: JsonObject): JsonObject {
  const { choices } = document
  if (!Array.isArray(choices)) return document
  const isNumbered = choices.some((choice) => member(choice, 'index') === 0)
  const unfolded = choices.map((choice, position) => unfoldChoice(choice, position, isNumbered))
  return { ...document, object: 'chat.completion.chunk', choices: unfolded }
}

function unfoldChoice(choice: unknown, position: number, isNumbered: boolean): unknown {
  if (!isObject(choice)) return choice
  const { message, ...rest } = choice
  const index = isNumbered ? (rest.index ?? position) : position
  return { ...rest, index, delta: isObject(message) ? numberCalls(message) : {} }
}

/** Tool calls have a position in a whole message, and an index in a stream. */
function numberCalls(message: JsonObject): JsonObject {
  const { tool_calls: calls } = message
  if (!Array.isArray(calls)) return message
  const numbered = calls.map((call, index) => (isObject(call) ? { ...call, index } : call))
  return { ...message, tool_calls: numbered }
}

/**
 * Returns a relay for a whole completion. Anything else becomes an error, as it does where no
 * stream is requested.
 */
export function createChatUnfolder(): Relay {
  return createUnfolder((body) => {
    const document = tryParseJson(body)
    if (!isObject(document)) return encodeChatError(UPSTREAM_ERROR)
    const { error } = readChatBody(document)
    if (error && !readChatError(document)) return encodeChatError(error)
    const data = writeJson(unfoldCompletion(document))
    return `${encodeSseEvent(undefined, data)}data: [DONE]\n\n`
  })
}
