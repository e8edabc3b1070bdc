/**
 * Limits slow readers: a caller that does not read its response would otherwise keep its
 * connection, and the file or upstream connection behind it, open indefinitely.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface ReaderGuard {
  /** Called for every request once its head has arrived. */
  begin(request: IncomingMessage, response: ServerResponse): void
}

/**
 * Closes sockets idle for `stallMs`, unless a response is still being produced and nothing is
 * buffered. Node reports a socket as idle if nothing was transferred, counting the progress of
 * large writes.
 */
export function watchSlowReaders(server: Server, stallMs: number): ReaderGuard {
  const responses = new WeakMap<Socket, number>()
  const count = (socket: Socket, change: 1 | -1) =>
    responses.set(socket, (responses.get(socket) ?? 0) + change)

  server.setTimeout(stallMs, (socket) => {
    const isWaiting = (responses.get(socket) ?? 0) > 0 && socket.writableLength === 0
    if (!isWaiting) socket.destroy()
  })

  function leave(this: ServerResponse) {
    count(this.req.socket, -1)
  }

  return {
    begin({ socket }, response) {
      count(socket, 1)
      response.on('close', leave)
    },
  }
}
