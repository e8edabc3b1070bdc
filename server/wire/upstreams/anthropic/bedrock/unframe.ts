/** Turns the frames of a streamed answer into the server-sent events that they contain. */
import { asString, isObject, member, tryParseJson } from '../../../../base/lib/json.ts'
import { encodeMessagesError } from '../../../dialects/messages/error.ts'
import type { Relay } from '../../../dialects/relay.ts'
import { UPSTREAM_ERROR } from '../../../dialects/reported-error.ts'
import { encodeSseEvent } from '../../../dialects/sse.ts'
import { readCount } from '../../../dialects/usage/read-count.ts'
import { createFrameDecoder, type EventFrame } from './event-stream.ts'
import { typeOfException } from './read-failure.ts'

/** Wraps a relay of messages. Text passes unchanged: a proxy may answer with events or JSON. */
export function unframe(relay: Relay): Relay {
  const decoder = createFrameDecoder()
  const readChunk = createChunkReader()
  let isFramed: boolean | undefined
  let isBroken = false
  const decode = (chunk: Buffer): Buffer | undefined => {
    if (isBroken) return undefined
    const events: string[] = []
    try {
      for (const frame of decoder.push(chunk)) events.push(toEvent(frame, readChunk))
    } catch {
      // The frames after a damaged one cannot be found, so the stream is broken here.
      isBroken = true
      events.push(encodeMessagesError(UPSTREAM_ERROR))
    }
    return events.length > 0 ? Buffer.from(events.join('')) : undefined
  }
  return {
    push(chunk) {
      // Frames are shorter than 2^24 bytes, and no text begins with a zero byte.
      isFramed ??= chunk[0] === 0
      if (!isFramed) return relay.push(chunk)
      const events = decode(chunk)
      return events && relay.push(events)
    },
    end: () => relay.end(),
    fail: (failure) => relay.fail(failure),
    report: () => relay.report(),
    heldBytes: () => decoder.heldBytes() + (relay.heldBytes?.() ?? 0),
  }
}

function toEvent({ headers, payload }: EventFrame, readChunk: ChunkReader): string {
  switch (headers.get(':message-type')) {
    case 'event':
      return headers.get(':event-type') === 'chunk' ? readChunk(payload) : ''
    case 'exception': {
      const message = asString(member(tryParseJson(payload), 'message')) ?? UPSTREAM_ERROR.message
      return encodeError(headers.get(':exception-type') ?? '', message)
    }
    case 'error':
      return encodeError(
        headers.get(':error-code') ?? '',
        headers.get(':error-message') ?? UPSTREAM_ERROR.message,
      )
    default:
      return ''
  }
}

type ChunkReader = (payload: Buffer) => string

/**
 * The event's data is in base64; a chunk without a type is no event of the format. Where no event
 * has stated the output, the counts beside the last one do, as an event of their own before it.
 */
function createChunkReader(): ChunkReader {
  let isStated = false
  return (payload) => {
    const bytes = asString(member(tryParseJson(payload), 'bytes')) ?? ''
    const data = Buffer.from(bytes, 'base64')
    const event = tryParseJson(data)
    const type = isObject(event) ? asString(event.type) : undefined
    if (!isObject(event) || type === undefined) return ''
    const encoded = encodeSseEvent(type, data.toString('utf8'))
    if (type === 'message_delta') {
      isStated ||= readCount(member(event.usage, 'output_tokens')) !== undefined
    }
    if (type !== 'message_stop' || isStated) return encoded
    return encodeMetrics(event['amazon-bedrock-invocationMetrics']) + encoded
  }
}

/** Names of usage by those of the counts, whose input is without what was cached, too. */
const METRICS: Readonly<Record<string, string>> = {
  inputTokenCount: 'input_tokens',
  outputTokenCount: 'output_tokens',
  cacheReadInputTokenCount: 'cache_read_input_tokens',
  cacheWriteInputTokenCount: 'cache_creation_input_tokens',
}

function encodeMetrics(metrics: unknown): string {
  if (readCount(member(metrics, 'outputTokenCount')) === undefined) return ''
  const usage = Object.entries(METRICS).flatMap(([name, field]) => {
    const count = readCount(member(metrics, name))
    return count === undefined ? [] : [[field, count] as const]
  })
  const event = { type: 'message_delta', delta: {}, usage: Object.fromEntries(usage) }
  return encodeSseEvent(event.type, JSON.stringify(event))
}

/** The type is the format's own for the exception, by which it is read as a failure. */
function encodeError(name: string, message: string): string {
  const error = { type: typeOfException(name), message }
  return encodeSseEvent('error', JSON.stringify({ type: 'error', error }))
}
