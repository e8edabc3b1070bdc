/** A bordered section of a page, with or without a heading. */
import { Box, Group, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './panel.module.css'

interface PanelProps {
  readonly title?: ReactNode
  readonly aside?: ReactNode
  /** True to drop the padding, for tables. */
  readonly flush?: boolean
  /** True to leave it out of printed pages. */
  readonly noPrint?: boolean
  /** True until its content has loaded: see InOrder. */
  readonly isPending?: boolean
  readonly children: ReactNode
}

export function Panel(props: PanelProps) {
  const { title, aside, flush = false, noPrint, isPending, children } = props
  return (
    <section
      className={classes.panel}
      data-no-print={noPrint || undefined}
      aria-busy={isPending || undefined}
    >
      {title || aside ? (
        <Group justify="space-between" className={classes.head} gap="xs">
          <Title order={2} size="h3">
            {title}
          </Title>
          {aside}
        </Group>
      ) : null}
      <Box p={flush ? 0 : 'md'}>{children}</Box>
    </section>
  )
}
