/**
 * Tooltip of a text, mounted only once the pointer has been on it: a table has hundreds of such
 * texts.
 */
import { Tooltip } from '@mantine/core'
import { type ReactNode, useRef, useState } from 'react'

interface HoverLabelProps {
  readonly label: () => string
  readonly children: ReactNode
}

export function HoverLabel({ label, children }: HoverLabelProps) {
  const [state, setState] = useState<'never' | 'over' | 'away'>('never')
  const target = useRef<HTMLSpanElement>(null)
  return (
    <span
      ref={target}
      onPointerEnter={() => setState('over')}
      onPointerLeave={() => setState('away')}
    >
      {children}
      {state === 'never' ? null : (
        <Tooltip target={target} label={label()} opened={state === 'over'} />
      )}
    </span>
  )
}
