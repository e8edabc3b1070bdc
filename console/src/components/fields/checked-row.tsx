/** Fields side by side, with their errors below the row. */
import { Group, type GroupProps } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './fields.module.css'
import { useFieldErrors } from './refused-fields.ts'

interface CheckedRowProps extends Pick<GroupProps, 'grow' | 'gap'> {
  /** The fields of the row: the server's names, each with its label. */
  readonly fields: readonly {
    readonly param: string
    readonly label: string
    /** See useFieldErrors. */
    readonly isExact?: boolean
  }[]
  readonly children: ReactNode
}

export function CheckedRow({ fields, children, gap = 'xs', grow = false }: CheckedRowProps) {
  const errorOf = useFieldErrors()
  const refused = fields.flatMap(({ param, label, isExact }) => {
    const text = errorOf(param, isExact)
    return text === undefined ? [] : [{ param, label, text }]
  })
  return (
    <div className={classes.row}>
      <Group gap={gap} grow={grow} align="flex-end">
        {children}
      </Group>
      {/* Each reason is also the description of its field, for screen readers. */}
      <div className={classes.reasons} aria-hidden>
        {refused.map(({ param, label, text }) => (
          <div key={param}>{refused.length > 1 ? `${label}: ${text}` : text}</div>
        ))}
      </div>
    </div>
  )
}
