/** Detects a worker whose event loop is blocked for good: it is alive but answers nothing. */
import type { Worker } from 'node:cluster'
import type { SupervisorMessage, WorkerMessage } from './messages.ts'

const PING_MS = 5_000
/**
 * Unanswered pings in a row. They are counted, not timed: a supervisor that was itself blocked does
 * not take any worker for silent.
 */
const PINGS_MISSED_MAX = 6

/** The time after which a silent worker is reported, in seconds. */
export const SILENT_SECONDS = (PING_MS * PINGS_MISSED_MAX) / 1000

/** Calls `onSilent` once if the worker leaves several pings unanswered. Ends with the worker. */
export function watchWorker(worker: Worker, onSilent: () => void): void {
  let missed = 0
  const timer = setInterval(() => {
    if (!worker.isConnected()) return
    if (missed === PINGS_MISSED_MAX) {
      clearInterval(timer)
      onSilent()
      return
    }
    missed += 1
    const message: SupervisorMessage = { tributary: 'ping' }
    worker.send(message, () => undefined)
  }, PING_MS)
  worker.on('message', ({ tributary }: WorkerMessage) => {
    if (tributary === 'pong') missed = 0
  })
  worker.once('exit', () => clearInterval(timer))
}
