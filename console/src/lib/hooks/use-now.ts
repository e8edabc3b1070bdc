/** The current time, updated while the page is visible. */
import { useEffect, useState } from 'react'

/** Returns milliseconds since 1970, updated every `tickMs`; without it the time of mounting. */
export function useNow(tickMs: number | undefined): number {
  const [nowMs, setNowMs] = useState(() => Date.now())
  useEffect(() => {
    if (tickMs === undefined) return undefined
    const timer = setInterval(() => setNowMs(Date.now()), tickMs)
    return () => clearInterval(timer)
  }, [tickMs])
  return nowMs
}
