/** Further content, collapsed at first. */
import type { ReactNode } from 'react'
import { Icon } from '../../../../components/icon.tsx'
import classes from './disclosure.module.css'

interface DisclosureProps {
  readonly label: string
  readonly isOpen?: boolean
  readonly children: ReactNode
}

export function Disclosure({ label, isOpen = false, children }: DisclosureProps) {
  return (
    <details className={classes.details} open={isOpen}>
      <summary className={classes.summary}>
        <span className={classes.arrow}>
          <Icon name="right" size={14} />
        </span>
        {label}
      </summary>
      <div className={classes.content}>{children}</div>
    </details>
  )
}
