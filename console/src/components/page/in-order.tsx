/**
 * The parts of a page that load on their own, shown from the top down: while one loads
 * (`aria-busy`), those below it are hidden. So nothing a reader sees moves when a part arrives.
 */
import { Stack, type StackProps } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './in-order.module.css'

interface InOrderProps {
  readonly gap?: StackProps['gap']
  readonly children: ReactNode
}

export function InOrder({ gap = 'md', children }: InOrderProps) {
  return (
    <Stack gap={gap} className={classes.parts}>
      {children}
    </Stack>
  )
}
