/** Explains an empty list and offers the next step. */
import { Stack, Text, ThemeIcon, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Icon, type IconName } from '../icon.tsx'

interface EmptyStateProps {
  readonly icon: IconName
  readonly title: string
  readonly children?: ReactNode
  readonly action?: ReactNode
}

export function EmptyState({ icon, title, children, action }: EmptyStateProps) {
  return (
    <Stack align="center" gap={6} py={48} px="md" ta="center">
      <ThemeIcon variant="light" size={40} radius="xl" mb={4}>
        <Icon name={icon} size={20} />
      </ThemeIcon>
      <Title order={2} size="h2">
        {title}
      </Title>
      {children ? (
        <Text c="dimmed" size="sm" maw={420} component="div">
          {children}
        </Text>
      ) : null}
      {action ? <div style={{ marginTop: 10 }}>{action}</div> : null}
    </Stack>
  )
}
