/**
 * Session affinity: the calls of one conversation go to the same channel, where the vendor's prompt
 * cache has its beginning. Rendezvous hashing needs no state, so all gateways make the same choice,
 * and a channel that fails or joins moves only its own share of the conversations.
 */
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isObject } from '../../../base/lib/json.ts'
import type { Body } from '../metering.ts'

/**
 * Headers by which clients name their session, such as `x-session-id`, `conversation_id`,
 * `thread-id` and `x-opencode-session`.
 */
const SESSION_HEADER = /(?:^|-)(?:session|conversation|conv|thread)(?:[-_](?:id|affinity))?$/

/** Names are shorter; of a longer one each route would hash all megabytes. */
const SESSION_LENGTH_MAX = 1_024

/** A conversation of one API key. */
export interface Affinity {
  readonly keyId: string
  readonly session: string
}

/** Returns the conversation that a request belongs to, or undefined if it names none. */
export function readAffinity(
  keyId: string,
  value: Body,
  headers: IncomingHttpHeaders,
): Affinity | undefined {
  const session = readSession(value, headers)
  return session === undefined ? undefined : { keyId, session }
}

/** Prefers the name that the caller chose for the prompt cache. */
function readSession(value: Body, headers: IncomingHttpHeaders): string | undefined {
  const { prompt_cache_key: cacheKey, conversation, session_id: sessionId, metadata } = value
  const named = [
    cacheKey,
    isObject(conversation) ? conversation.id : conversation,
    sessionId,
    ...readHeaders(headers),
    ...(isObject(metadata) ? [metadata.session_id, metadata.user_id] : []),
  ]
  const name = named.find((one): one is string => typeof one === 'string' && one !== '')
  return name?.slice(0, SESSION_LENGTH_MAX)
}

function readHeaders(headers: IncomingHttpHeaders): unknown[] {
  const names = Object.keys(headers).filter((name) => SESSION_HEADER.test(name))
  return names.sort().map((name) => headers[name])
}

/**
 * Returns a number between 0 and 1 (both exclusive) that depends only on the conversation and the
 * channel, and is independent of that of any other channel.
 */
export function drawFor({ keyId, session }: Affinity, channel: string): number {
  const digest = createHash('sha256')
    .update(JSON.stringify([keyId, session, channel]))
    .digest()
  return (digest.readUIntBE(0, 6) + 1) / (2 ** 48 + 1)
}
