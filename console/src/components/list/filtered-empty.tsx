/** Content of an empty list: the next step, or a way to clear the filters. */
import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import type { IconName } from '../icon.tsx'
import { EmptyState } from './empty-state.tsx'
import { useFilteredTexts } from './filters.tsx'

interface FilteredEmptyProps {
  readonly icon: IconName
  readonly isFiltered: boolean
  readonly onClear: () => void
  readonly title: string
  readonly children?: ReactNode
  readonly action?: ReactNode
}

export function FilteredEmpty(props: FilteredEmptyProps) {
  const { icon, isFiltered, onClear, title, children, action } = props
  const filtered = useFilteredTexts()
  if (!isFiltered) {
    return (
      <EmptyState icon={icon} title={title} action={action}>
        {children}
      </EmptyState>
    )
  }
  const clear = (
    <Button variant="default" onClick={onClear}>
      {filtered.clear}
    </Button>
  )
  return <EmptyState icon="filter" title={filtered.title} action={clear} />
}
