/** Small fields beside each other, in line even where one label takes two lines. */
import { SimpleGrid } from '@mantine/core'
import type { ReactNode } from 'react'

interface RowProps {
  readonly cols?: number
  readonly children: ReactNode
}

export function FieldRow({ cols = 2, children }: RowProps) {
  return (
    <SimpleGrid cols={{ base: 2, xs: cols }} spacing="sm" style={{ alignItems: 'end' }}>
      {children}
    </SimpleGrid>
  )
}
