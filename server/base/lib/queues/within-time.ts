/**
 * Resolves or rejects as `work` does, but rejects with `late()` once `limitMs` are over; the work
 * itself continues and its outcome is ignored then. An answer that has already arrived still
 * counts: after a stall of the process, timers fire before sockets are read.
 */
export function withinTime<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => setImmediate(() => reject(late()))
    const timer = setTimeout(giveUp, limitMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
