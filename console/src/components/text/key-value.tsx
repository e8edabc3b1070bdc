/** Facts in two columns: name and value. */
import type { ReactNode } from 'react'
import classes from './key-value.module.css'

export interface Fact {
  readonly label: string
  /** Undefined values are left out. */
  readonly value: ReactNode
}

export function KeyValue({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl className={classes.list}>
      {facts
        .filter(({ value }) => value !== undefined && value !== null)
        .map(({ label, value }) => (
          <div key={label} className={classes.row}>
            <dt className={classes.label}>{label}</dt>
            <dd className={classes.value}>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
