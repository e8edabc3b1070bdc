/**
 * A session that ends leads to the sign-in page. A page in use is kept instead, under a dialog,
 * until the same person has signed in again.
 */
import type { QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { isInUse } from './new-build.ts'

let isEnded = false
const listeners = new Set<() => void>()

function setEnded(value: boolean): void {
  isEnded = value
  for (const listener of listeners) listener()
}

/** Reports that the gateway knows no session any more. */
export function noteSessionEnd(client: QueryClient): void {
  if (isInUse()) setEnded(true)
  else leavePage(client)
}

/** Forgets what is shown, and shows the page of whoever is signed in, or the sign-in page. */
export function leavePage(client: QueryClient): void {
  setEnded(false)
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'GET /session' })
  void client.resetQueries({ queryKey: ['GET /session'] })
}

/** Goes on with the page for the person who was signed in before. */
export function keepPage(client: QueryClient): void {
  setEnded(false)
  void client.invalidateQueries()
}

export function useSessionEnd(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => isEnded,
  )
}
