/**
 * Answers must leave: a caller that takes nothing of what is there for it would otherwise keep its
 * connection, and the file or the vendor's connection behind the answer, for as long as it likes.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface Departures {
  /** Called for every request as soon as its head is there. */
  begin(request: IncomingMessage, response: ServerResponse): void
}

/**
 * Node tells of a connection on which nothing has moved for `stallMs`, counting what the system has
 * taken of a large write. Whose answer is still being made waits for us, and may wait; one that has
 * bytes in its way is stalled; and without a request under way a connection is merely idle.
 */
export function watchDepartures(server: Server, stallMs: number): Departures {
  const answers = new WeakMap<Socket, number>()
  const count = (socket: Socket, change: 1 | -1) =>
    answers.set(socket, (answers.get(socket) ?? 0) + change)

  server.setTimeout(stallMs, (socket) => {
    const isWaiting = (answers.get(socket) ?? 0) > 0 && socket.writableLength === 0
    if (!isWaiting) socket.destroy()
  })

  return {
    begin({ socket }, response) {
      count(socket, 1)
      response.once('close', () => count(socket, -1))
    },
  }
}
