/** Filters above a list. Their values live in the address: see lib/url-state. */
import { Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { type ReactNode, useState } from 'react'
import { useMessages } from '../../lib/i18n.tsx'
import { Icon } from '../icon.tsx'
import { messages } from '../messages.ts'
import classes from './filters.module.css'

const PAUSE_MS = 300

export function Filters({ children }: { readonly children: ReactNode }) {
  return <div className={classes.filters}>{children}</div>
}

interface SelectFilterProps {
  readonly label: string
  readonly value: string
  readonly options: readonly { readonly value: string; readonly label: string }[]
  /** '' when cleared. */
  readonly onChange: (value: string) => void
}

export function SelectFilter({ label, value, options, onChange }: SelectFilterProps) {
  return (
    <Select
      aria-label={label}
      placeholder={label}
      size="xs"
      clearable
      searchable={options.length > 8}
      data={[...options]}
      value={value || null}
      onChange={(chosen) => onChange(chosen ?? '')}
    />
  )
}

interface TextFilterProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
}

/** Told when the typing pauses; what changes the value from elsewhere changes the text too. */
export function TextFilter({ label, value, onChange }: TextFilterProps) {
  const [typed, setTyped] = useState(value)
  const [told, setTold] = useState(value)
  const [seen, setSeen] = useState(value)
  const tell = useDebouncedCallback((text: string) => {
    setTold(text)
    onChange(text)
  }, PAUSE_MS)
  if (value !== seen) {
    setSeen(value)
    // Our own word comes back while somebody goes on typing: that changes nothing.
    if (value !== told) {
      setTold(value)
      setTyped(value)
    }
  }
  return (
    <TextInput
      aria-label={label}
      placeholder={label}
      size="xs"
      leftSection={<Icon name="search" size={14} />}
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value)
        tell(currentTarget.value.trim())
      }}
    />
  )
}

/** In an EmptyState when filters are on. */
export function useFilteredTexts() {
  const t = useMessages(messages)
  return { title: t('nothingFound'), clear: t('clearFilters') }
}
