/** The present moment, kept up to date while somebody looks. */
import { useEffect, useState } from 'react'

/** Milliseconds since 1970, told anew after each `tickMs`; without it the moment of mounting. */
export function useNow(tickMs: number | undefined): number {
  const [nowMs, setNowMs] = useState(() => Date.now())
  useEffect(() => {
    if (tickMs === undefined) return undefined
    const timer = setInterval(() => setNowMs(Date.now()), tickMs)
    return () => clearInterval(timer)
  }, [tickMs])
  return nowMs
}
