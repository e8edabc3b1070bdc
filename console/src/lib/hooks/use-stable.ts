/** Gives rows of a long form one function for good, so that only the row that changes renders. */
import { useCallback, useLayoutEffect, useRef } from 'react'

/** Returns a function that stays the same, and calls the latest `act`. */
export function useStable<Values extends unknown[]>(
  act: (...values: Values) => void,
): (...values: Values) => void {
  const latest = useRef(act)
  useLayoutEffect(() => {
    latest.current = act
  })
  return useCallback((...values: Values) => latest.current(...values), [])
}
