/**
 * Waits that count short slices, because a busy event loop in this process must not look like a
 * silent server: however long the process is blocked, only one slice is counted.
 */
const SLICE_MS = 250

/** Resolves after this time, or once `signal` aborts. Keeps no process running. */
export async function waitSlices(milliseconds: number, signal?: AbortSignal): Promise<void> {
  const isOver = Promise.withResolvers<void>()
  let remainingMs = milliseconds
  let timer: NodeJS.Timeout | undefined
  const next = () => {
    if (remainingMs <= 0 || signal?.aborted) {
      isOver.resolve()
      return
    }
    timer = setTimeout(next, Math.min(remainingMs, SLICE_MS)).unref()
    remainingMs -= SLICE_MS
  }
  const stop = () => {
    clearTimeout(timer)
    isOver.resolve()
  }
  signal?.addEventListener('abort', stop)
  next()
  await isOver.promise
  signal?.removeEventListener('abort', stop)
}
