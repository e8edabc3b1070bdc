/** A state as a word with a dot, whose color only repeats the word. */
import { Group, Text } from '@mantine/core'
import classes from './status-badge.module.css'

export type Tone = 'good' | 'bad' | 'busy' | 'warning' | 'quiet'

interface StatusBadgeProps {
  readonly tone: Tone
  readonly label: string
  /** True for a sentence, which may take several lines. */
  readonly isLong?: boolean
}

export function StatusBadge({ tone, label, isLong = false }: StatusBadgeProps) {
  return (
    <Group
      gap={6}
      wrap="nowrap"
      className={classes.badge}
      data-tone={tone}
      data-long={isLong || undefined}
      component="span"
    >
      <span className={classes.dot} />
      <Text component="span" size="sm" inherit>
        {label}
      </Text>
    </Group>
  )
}
