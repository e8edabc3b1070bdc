/**
 * Delays the `100 Continue` that a caller waits for until its body is read: a request that is
 * refused by its head, for example for its key, then sends no body.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'

const waiting = new WeakMap<IncomingMessage, ServerResponse>()

/** Notes a request whose caller waits before it sends the body. */
export function delayContinue(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response)
}

/** Tells a waiting caller to send the body. */
export function sendContinue(request: IncomingMessage): void {
  const response = waiting.get(request)
  if (!response || !waiting.delete(request)) return
  if (!response.headersSent && !response.destroyed) response.writeContinue()
}
