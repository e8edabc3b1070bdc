/** A notice that needs attention, with a link to the page that resolves it. */
import { Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Icon } from '../icon.tsx'
import classes from './notice.module.css'

interface NoticeProps {
  readonly tone: 'bad' | 'warning' | 'info'
  readonly title: string
  readonly children?: ReactNode
  readonly action?: ReactNode
}

export function Notice({ tone, title, children, action }: NoticeProps) {
  return (
    <Group className={classes.notice} data-tone={tone} gap="sm" role="status">
      <span className={classes.icon}>
        <Icon name={tone === 'info' ? 'info' : 'warning'} />
      </span>
      <div className={classes.text}>
        <Text size="sm" fw={600}>
          {title}
        </Text>
        {children ? (
          <Text size="sm" c="dimmed" component="div">
            {children}
          </Text>
        ) : null}
      </div>
      {action}
    </Group>
  )
}
