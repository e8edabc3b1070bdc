/** Turns a message of a WebSocket into a request of the listener. */
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

/** Headers of the handshake that say nothing about the calls on its connection. */
const OF_HANDSHAKE = new RegExp(
  [
    '^(?:connection|upgrade|host|origin|accept|accept-encoding|transfer-encoding|expect',
    'idempotency-key|(?:sec-websocket|content)-.*)$',
  ].join('|'),
)

/** Returns a POST with the handshake's other headers, its credentials above all. */
export function createMessageRequest(
  handshake: IncomingMessage,
  path: string,
  body: Buffer,
): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  const kept = Object.entries(handshake.headers).filter(([name]) => !OF_HANDSHAKE.test(name))
  request.method = 'POST'
  request.url = path
  request.headers = { ...Object.fromEntries(kept), 'content-type': 'application/json' }
  request.push(body)
  request.push(null)
  request.complete = true
  return request
}
