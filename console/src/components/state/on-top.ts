/** Ways to close dialogs and drawers: Escape closes that on top, a click one without typed text. */
import { type FormEvent, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'

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

/**
 * Closes a dialog or drawer when somebody clicks beside it, unless the click would lose what was
 * typed into a form of it: then only its buttons and Escape close it.
 */
export function useCloseBeside(onClose: () => void) {
  const typed = useRef<Element>(null)
  return {
    onInput({ target, currentTarget }: FormEvent) {
      // A dialog that was opened from here has its own.
      const isOwn = target instanceof Element && currentTarget.contains(target)
      if (isOwn && target.closest('form')) typed.current = target
    },
    onClickBeside() {
      if (!typed.current?.isConnected) onClose()
    },
  }
}
