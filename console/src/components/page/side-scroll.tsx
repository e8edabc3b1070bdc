/** Around a table: scrolls sideways where it does not fit, with the keyboard too. */
import { Box, ScrollArea } from '@mantine/core'
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'

export interface SideScrollProps {
  /** The name of the region that scrolls. */
  readonly label: string
  /** In pixels; the content's own when absent. */
  readonly minWidth?: number
  readonly children: ReactNode
}

export function SideScroll({ label, minWidth, children }: SideScrollProps) {
  const viewport = useRef<HTMLDivElement>(null)
  const [isCut, setIsCut] = useState(false)
  const measure = useCallback(() => {
    const { scrollWidth = 0, clientWidth = 0 } = viewport.current ?? {}
    setIsCut(scrollWidth > clientWidth)
  }, [])
  // New rows are measured before they are shown, since the observer reports only afterwards.
  useLayoutEffect(measure)
  useEffect(() => {
    const element = viewport.current
    if (!element) return
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    if (element.firstElementChild) observer.observe(element.firstElementChild)
    return () => observer.disconnect()
  }, [measure])
  // Content that fits needs no keyboard focus.
  const region = isCut ? { tabIndex: 0, role: 'region', 'aria-label': label } : {}
  return (
    <ScrollArea type="auto" scrollbars="x" viewportRef={viewport} viewportProps={region}>
      {minWidth === undefined ? children : <Box miw={minWidth}>{children}</Box>}
    </ScrollArea>
  )
}
