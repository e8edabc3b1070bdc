/** The port of all workers, on which their supervisor listens. */
import type { Worker } from 'node:cluster'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { untilBacklogEmpty } from '../http/drain.ts'
import { explainListening } from '../lib/process/explain-listening.ts'
import { createHandOver } from './hand-over.ts'
import type { SupervisorMessage, WorkerMessage } from './messages.ts'

export interface SharedPort {
  readonly port: number
  /** Hands connections to `worker` from when it serves until it leaves or ends. */
  add(worker: Worker): void
  /** Closes the port, and connections that no worker has taken. */
  destroy(): void
}

interface Address {
  readonly host: string
  readonly port: number
  /** Most connections that wait; further ones are closed. */
  readonly waitingMax: number
}

/**
 * Listens. Once `stopping` is aborted, the first worker that leaves closes the port, and all stay
 * until the connections that wait have been handed out.
 */
export async function sharePort(address: Address, stopping: AbortSignal): Promise<SharedPort> {
  const handOver = createHandOver(address.waitingMax)
  // Only a worker reads from a connection.
  const server = createServer({ pauseOnConnect: true }, handOver.add)
  let closing: Promise<void> | undefined

  async function close(): Promise<void> {
    await untilBacklogEmpty(server)
    server.close()
    await handOver.empty()
  }

  async function leave(worker: Worker): Promise<void> {
    if (stopping.aborted) {
      closing ??= close()
      await closing
    }
    handOver.leave(worker)
    const message: SupervisorMessage = { tributary: 'left' }
    // It arrives after a connection that is on its way.
    if (worker.isConnected()) worker.send(message, () => undefined)
  }

  function listen(worker: Worker, { tributary }: WorkerMessage): void {
    if (tributary === 'taken') handOver.confirm(worker)
    if (tributary === 'taken' || tributary === 'serving') handOver.free(worker)
    if (tributary === 'leaving') void leave(worker)
  }

  try {
    server.listen(address.port, address.host, 4096)
    await once(server, 'listening')
  } catch (error) {
    throw explainListening(error, address, { host: 'HOST', port: 'PORT' })
  }
  const bound = server.address()
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : 0,
    add(worker) {
      worker.on('message', (message: WorkerMessage) => listen(worker, message))
      // It comes after the worker's last message, unlike `exit`, and also while a connection is on
      // its way, unlike `disconnect`.
      worker.process.once('close', () => handOver.end(worker))
    },
    destroy() {
      server.close()
      handOver.destroy()
    },
  }
}
