/**
 * The parts of a page that load on their own, shown from the top down: while one loads
 * (`aria-busy`), those below it are hidden. So nothing a reader sees moves when a part arrives.
 */
import { Stack, type StackProps } from '@mantine/core'
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import classes from './in-order.module.css'

interface InOrderProps {
  readonly gap?: StackProps['gap']
  readonly children: ReactNode
}

/**
 * A stylesheet alone could say it (`:has([aria-busy=true]) ~ *`), but Chromium 156 now and then
 * keeps the last part hidden when two parts arrive at once.
 */
export function InOrder({ gap = 'md', children }: InOrderProps) {
  const ref = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const { current: parts } = ref
    if (!parts) return
    markWaiting(parts)
    // Called before the browser paints what has changed.
    const observer = new MutationObserver(() => markWaiting(parts))
    observer.observe(parts, { subtree: true, childList: true, attributeFilter: ['aria-busy'] })
    return () => observer.disconnect()
  }, [])
  return (
    <Stack ref={ref} gap={gap} className={classes.parts}>
      {children}
    </Stack>
  )
}

const BUSY = '[aria-busy="true"]'

function markWaiting(parts: HTMLElement): void {
  let isWaiting = false
  for (const part of parts.children) {
    part.toggleAttribute('data-waiting', isWaiting)
    isWaiting ||= part.matches(BUSY) || part.querySelector(BUSY) !== null
  }
}
