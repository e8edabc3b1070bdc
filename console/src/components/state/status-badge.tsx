/** A state as a word with a dot, whose color only repeats the word. */
import { Group, Text } from '@mantine/core'
import classes from './status-badge.module.css'

export type Tone = 'good' | 'bad' | 'busy' | 'warning' | 'quiet'

interface StatusBadgeProps {
  readonly tone: Tone
  readonly label: string
}

export function StatusBadge({ tone, label }: StatusBadgeProps) {
  return (
    <Group gap={6} wrap="nowrap" className={classes.badge} data-tone={tone} component="span">
      <span className={classes.dot} />
      <Text component="span" size="sm" inherit>
        {label}
      </Text>
    </Group>
  )
}
