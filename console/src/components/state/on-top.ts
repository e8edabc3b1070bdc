/** Knows which of the open dialogs and drawers is on top: Escape closes that one alone. */
import { useLayoutEffect, useState, useSyncExternalStore } from 'react'

const open: symbol[] = []
const listeners = new Set<() => void>()

function notify(): void {
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Returns true while the caller is open and was opened last. */
export function useIsOnTop(isOpen: boolean): boolean {
  const [self] = useState(() => Symbol('dialog'))
  useLayoutEffect(() => {
    if (!isOpen) return undefined
    open.push(self)
    notify()
    return () => {
      open.splice(open.indexOf(self), 1)
      notify()
    }
  }, [isOpen, self])
  return useSyncExternalStore(subscribe, () => open.at(-1) === self)
}
