/** A row of the settings: label, value, actions. */
import { Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'

interface RowProps {
  readonly title: ReactNode
  readonly text?: ReactNode
  readonly children?: ReactNode
}

export function SettingRow({ title, text, children }: RowProps) {
  return (
    <Group justify="space-between" wrap="nowrap" gap="sm" py={6}>
      <div style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
        <Text
          size="sm"
          fw={500}
          component="div"
          truncate
          title={typeof title === 'string' ? title : undefined}
        >
          {title}
        </Text>
        {text ? (
          <Text size="xs" c="dimmed" component="div">
            {text}
          </Text>
        ) : null}
      </div>
      <Group gap="xs" wrap="nowrap" flex="none">
        {children}
      </Group>
    </Group>
  )
}
