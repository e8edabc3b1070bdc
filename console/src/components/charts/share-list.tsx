/** Names by their share of a total; each links to its records. */
import { Text, UnstyledButton } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import classes from './share-list.module.css'

export interface Share {
  readonly id: string
  readonly label: string
  /** Determines the bar's length. */
  readonly value: number
  readonly text: string
  readonly note?: string
  readonly to: string
  readonly search: Readonly<Record<string, string>>
}

const FULL = 100

export function ShareList({ shares }: { readonly shares: readonly Share[] }) {
  const most = Math.max(0, ...shares.map(({ value }) => value))
  return (
    <ul className={classes.list}>
      {shares.map(({ id, label, value, text, note, to, search }) => (
        <li key={id}>
          <UnstyledButton
            className={classes.row}
            renderRoot={(props) => <Link to={to} search={search} {...props} />}
          >
            <span
              className={classes.bar}
              style={{ width: `${most > 0 ? (value / most) * FULL : 0}%` }}
            />
            <Text component="span" size="sm" truncate className={classes.label}>
              {label}
            </Text>
            {note ? (
              <Text component="span" size="xs" c="dimmed">
                {note}
              </Text>
            ) : null}
            <Text component="span" size="sm" fw={500}>
              {text}
            </Text>
          </UnstyledButton>
        </li>
      ))}
    </ul>
  )
}
