/** Tracks whether the gateway answers; while it does not, asks again until it does. */
import { useSyncExternalStore } from 'react'

const ASK_AGAIN_MS = 3_000
/** Statuses of a proxy whose gateway is down. */
const GATEWAY_DOWN = new Set([502, 504])

let isOffline = false
let willAsk = false
const listeners = new Set<() => void>()

function setOffline(value: boolean): void {
  if (isOffline === value) return
  isOffline = value
  for (const listener of listeners) listener()
}

/** Reports the status of a response, 0 for none. */
export function noteStatus(status: number): void {
  if (status !== 0 && !GATEWAY_DOWN.has(status)) {
    setOffline(false)
    return
  }
  setOffline(true)
  if (willAsk) return
  willAsk = true
  setTimeout(() => {
    willAsk = false
    void askGateway()
  }, ASK_AGAIN_MS)
}

/** Asks once, and again later if there is no answer. Returns whether there was one. */
export async function askGateway(): Promise<boolean> {
  const answer = await fetch('/healthz', { cache: 'no-store' }).catch(() => undefined)
  noteStatus(answer?.status ?? 0)
  return !isOffline
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useIsOffline(): boolean {
  return useSyncExternalStore(subscribe, () => isOffline)
}

/** Resolves once the gateway answers. */
export function whenOnline(): Promise<void> {
  return new Promise((resolve) => {
    const stop = subscribe(() => {
      if (isOffline) return
      stop()
      resolve()
    })
    if (isOffline) return
    stop()
    resolve()
  })
}
