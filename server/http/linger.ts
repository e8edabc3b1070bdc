/**
 * A refusal is often known before all of its request has come. Closing the connection then would
 * reset it, and the reset can overtake the refusal: so what still comes is taken in for a while.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'

const LINGER_MS = 2_000
const LINGER_BYTES = 32 * 1024 * 1024

/** Writes all of a response, and ends it when its request is over or has had its time. */
export function endAfterRequest(
  request: IncomingMessage,
  response: ServerResponse,
  content: Buffer | undefined,
): void {
  if (content) response.write(content)
  let bytes = 0
  const end = () => {
    clearTimeout(timer)
    request.off('data', count).off('end', end).off('close', end)
    response.end()
  }
  const count = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > LINGER_BYTES) end()
  }
  const timer = setTimeout(end, LINGER_MS)
  request.on('data', count).on('end', end).on('close', end)
}
