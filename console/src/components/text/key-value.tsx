/** Facts in two columns: name and value. */
import type { ReactNode } from 'react'
import classes from './key-value.module.css'

export interface Fact {
  readonly label: string
  /** Undefined values are left out. */
  readonly value: ReactNode
}

interface KeyValueProps {
  readonly facts: readonly Fact[]
  /** True for amounts that add up: their digits stand below each other. */
  readonly areFigures?: boolean
}

export function KeyValue({ facts, areFigures = false }: KeyValueProps) {
  return (
    <dl className={classes.list} data-figures={areFigures || undefined}>
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
