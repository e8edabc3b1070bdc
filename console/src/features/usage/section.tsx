/** A titled part of an explanation. */
import { Title } from '@mantine/core'
import type { ReactNode } from 'react'

export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <Title order={3} size="h4" mb={6}>
        {title}
      </Title>
      {children}
    </section>
  )
}
