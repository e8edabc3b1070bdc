/** Tells work that goes on whether its page or its dialog is still there. */
import { type RefObject, useEffect, useRef } from 'react'

export function useIsShown(): Readonly<RefObject<boolean>> {
  const isShown = useRef(true)
  useEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
    }
  }, [])
  return isShown
}
