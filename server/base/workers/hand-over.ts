/** Hands connections to workers, one at a time to each, in the order in which they were free. */
import type { Worker } from 'node:cluster'
import type { Socket } from 'node:net'
import type { SupervisorMessage } from './messages.ts'

export interface HandOver {
  /** Adds a connection, or closes it if too many wait. */
  add(socket: Socket): void
  /** The worker can take a connection. */
  free(worker: Worker): void
  /** The worker has taken the connection that it was handed. */
  confirm(worker: Worker): void
  /** The worker takes no more connections. */
  leave(worker: Worker): void
  /** The worker has died: what it has not confirmed goes to another one. */
  end(worker: Worker): void
  /** Resolves once no connection waits for a worker. */
  empty(): Promise<void>
  /** Closes the connections that wait. */
  destroy(): void
}

/** Time for which a connection waits while no worker is free, for example while one restarts. */
const WAIT_MS = 30_000

export function createHandOver(waitingMax: number): HandOver {
  const waiting: Socket[] = []
  const free: Worker[] = []
  const left = new WeakSet<Worker>()
  /** Connections on their way to a worker. The supervisor keeps its copy until the confirmation. */
  const handed = new Map<Worker, Socket>()
  let onEmpty: (() => void) | undefined

  function handOut(): void {
    while (waiting.length > 0 && free.length > 0) {
      const socket = waiting.shift()
      if (socket?.destroyed !== false) continue
      const worker = free.shift()
      if (!worker) return
      socket.setTimeout(0)
      handed.set(worker, socket)
      const message: SupervisorMessage = { tributary: 'connection' }
      worker.send(message, socket, { keepOpen: true }, () => undefined)
    }
    if (waiting.length === 0) onEmpty?.()
  }

  function release(worker: Worker): Socket | undefined {
    const socket = handed.get(worker)
    handed.delete(worker)
    return socket
  }

  function remove(worker: Worker): void {
    left.add(worker)
    const place = free.indexOf(worker)
    if (place >= 0) free.splice(place, 1)
  }

  return {
    add(socket) {
      socket.on('error', () => undefined)
      if (waiting.length >= waitingMax) {
        socket.destroy()
        return
      }
      waiting.push(limitWait(socket))
      handOut()
    },
    free(worker) {
      if (!left.has(worker)) free.push(worker)
      handOut()
    },
    confirm: (worker) => void release(worker)?.destroy(),
    leave: remove,
    end(worker) {
      remove(worker)
      const socket = release(worker)
      if (socket) waiting.unshift(limitWait(socket))
      handOut()
    },
    empty() {
      return new Promise((resolve) => {
        onEmpty = resolve
        handOut()
      })
    },
    destroy() {
      for (const socket of waiting) socket.destroy()
    },
  }
}

function limitWait(socket: Socket): Socket {
  return socket.setTimeout(WAIT_MS, () => socket.destroy())
}
