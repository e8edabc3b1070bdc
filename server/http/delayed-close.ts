/**
 * Delays closing after an early refusal: closing while the request still arrives would reset the
 * connection, and the reset can overtake the response. The rest of the request is read for a while.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'

const DELAY_MS_MAX = 2_000
const DELAY_BYTES_MAX = 32 * 1024 * 1024

/** Writes a response, and ends it once its request has arrived or the limits are reached. */
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
    if (bytes > DELAY_BYTES_MAX) end()
  }
  const timer = setTimeout(end, DELAY_MS_MAX)
  request.on('data', count).on('end', end).on('close', end)
}
