/** Takes the whole response out of the last event of a Responses stream. */
import { isObject, type JsonObject, writeJson } from '../../../base/lib/json.ts'
import { buildChatError } from '../chat/error.ts'
import { parseEventData } from '../parse-event-data.ts'
import type { Relay } from '../relay.ts'
import { UPSTREAM_ERROR } from '../reported-error.ts'
import { ANSWER_EVENT_BYTES_MAX, createSseParser } from '../sse.ts'

const ENDINGS = new Set<unknown>([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
])

/** Returns one JSON document at the end: the response, or an error if the stream broke off. */
export function createResponsesCollector(): Relay {
  let response: JsonObject | undefined
  const parser = createSseParser({
    limitBytes: ANSWER_EVENT_BYTES_MAX,
    onEvent(event) {
      const data = parseEventData(event)
      if (data && ENDINGS.has(data.type) && isObject(data.response)) response = data.response
    },
  })
  return {
    push(chunk) {
      parser.push(chunk)
      return undefined
    },
    end() {
      parser.end()
      return Buffer.from(writeJson(response ?? buildChatError(UPSTREAM_ERROR)))
    },
    fail: () => undefined,
    report() {
      const isBroken = response === undefined || response.status === 'failed'
      return { outputBytes: 0, finished: !isBroken, ...(isBroken ? { error: UPSTREAM_ERROR } : {}) }
    },
  }
}
