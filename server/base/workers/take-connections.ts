/** Serves the connections that the supervisor of this worker accepts. */
import type { Server } from 'node:http'
import { Server as NetServer, Socket } from 'node:net'
import { type Entrance, untilBacklogEmpty } from '../http/drain.ts'
import type { SupervisorMessage, WorkerMessage } from './messages.ts'

/** `port` is that of the supervisor. The server must not listen by itself. */
export function takeConnections(server: Server, port: number): Entrance {
  let openCount = 0
  const left = Promise.withResolvers<void>()
  let isClosing = false

  /**
   * Makes the server emit `close` once its last connection has ended, as a listening server does.
   */
  function closeIfDrained(): void {
    if (isClosing && openCount === 0) NetServer.prototype.close.call(server)
  }

  function take(socket: unknown): void {
    // Confirmed before anything is read: an unconfirmed one is handed to another worker.
    tell({ tributary: 'taken' })
    if (!(socket instanceof Socket)) return
    if (openCount >= server.maxConnections) {
      socket.destroy()
      return
    }
    openCount += 1
    socket.once('close', () => {
      openCount -= 1
      closeIfDrained()
    })
    socket.setNoDelay(true)
    server.emit('connection', socket)
  }

  process.on('message', ({ tributary }: SupervisorMessage, socket) => {
    if (tributary === 'connection') take(socket)
    if (tributary === 'left') left.resolve()
    if (tributary === 'ping') tell({ tributary: 'pong' })
  })
  // With this event Node begins to watch for requests that do not arrive.
  server.emit('listening')
  tell({ tributary: 'serving' })
  return {
    port,
    async close() {
      tell({ tributary: 'leaving' })
      await left.promise
      // Requests that came with the last connections are read, so that they count as running.
      await untilBacklogEmpty(server)
      isClosing = true
      closeIfDrained()
    },
  }
}

function tell(message: WorkerMessage): void {
  process.send?.(message, undefined, undefined, () => undefined)
}
