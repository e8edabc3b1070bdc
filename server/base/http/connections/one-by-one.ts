/**
 * Serves the requests of a connection one after the other. A caller may send further ones before
 * the first is answered: a packet of 64 KB has room for 3,600, which Node hands over in one turn of
 * the event loop, and whose responses would wait in memory for those before them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Handle = (request: IncomingMessage, response: ServerResponse) => void

/** Requests of a connection that wait: clients that send ahead at all send fewer. */
const WAITING_MAX = 64

interface Line {
  isServing: boolean
  readonly waiting: (readonly [IncomingMessage, ServerResponse])[]
}

/** Returns `handle` for one request of a connection at a time. Too many end the connection. */
export function oneByOne(handle: Handle): Handle {
  const lines = new WeakMap<Socket, Line>()

  function serve(request: IncomingMessage, response: ServerResponse): void {
    response.once('close', serveNext)
    handle(request, response)
  }

  function serveNext(this: ServerResponse): void {
    const { socket } = this.req
    const line = lines.get(socket)
    if (!line) return
    const next = line.waiting.shift()
    line.isServing = next !== undefined
    if (next && socket.writable) serve(...next)
  }

  return (request, response) => {
    const { socket } = request
    // A connection that ends takes no more answers: its caller may send the request on another one.
    if (!socket.writable) return
    let line = lines.get(socket)
    if (!line) {
      line = { isServing: false, waiting: [] }
      lines.set(socket, line)
    }
    if (line.isServing) {
      if (line.waiting.length >= WAITING_MAX) socket.destroy()
      else line.waiting.push([request, response])
      return
    }
    line.isServing = true
    serve(request, response)
  }
}
