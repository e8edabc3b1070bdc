/** Filters above a list. Their values are kept in the URL: see lib/url-state. */
import { isOptionsGroup, type OptionsFilter, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { type ReactNode, useState } from 'react'
import { useMessages } from '../../lib/i18n.tsx'
import { Icon } from '../icon.tsx'
import { messages } from '../messages.ts'
import classes from './filters.module.css'

const PAUSE_MS = 300
/** Options that are shown at once; typing finds the others. */
const OPTIONS_SHOWN = 200

/** Finds a choice by its value too, as the gateway does: a label does not show the id of a key. */
export const byLabelOrValue: OptionsFilter = ({ options, search, limit }) => {
  const text = search.trim().toLowerCase()
  const isFound = ({ label, value }: { readonly label: string; readonly value: unknown }) =>
    `${label}\n${value}`.toLowerCase().includes(text)
  return options.filter((one) => !isOptionsGroup(one) && isFound(one)).slice(0, limit)
}

export function Filters({ children }: { readonly children: ReactNode }) {
  return <div className={classes.filters}>{children}</div>
}

interface SelectFilterProps {
  readonly label: string
  readonly value: string
  readonly options: readonly { readonly value: string; readonly label: string }[]
  /** '' when cleared. */
  readonly onChange: (value: string) => void
  /** Receives what is typed, where the options are only the first ones. */
  readonly onSearch?: ((text: string) => void) | undefined
}

export function SelectFilter({ label, value, options, onChange, onSearch }: SelectFilterProps) {
  return (
    <Select
      aria-label={label}
      placeholder={label}
      size="xs"
      clearable
      searchable={onSearch !== undefined || options.length > 8}
      {...(onSearch ? { onSearchChange: onSearch, filter: byLabelOrValue } : {})}
      limit={OPTIONS_SHOWN}
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

/** A text filter that reports after a pause in typing and follows outside changes of its value. */
export function TextFilter({ label, value, onChange }: TextFilterProps) {
  const [typed, setTyped] = useState(value)
  const [reported, setReported] = useState(value)
  const [previous, setPrevious] = useState(value)
  const report = useDebouncedCallback((text: string) => {
    setReported(text)
    onChange(text)
  }, PAUSE_MS)
  if (value !== previous) {
    setPrevious(value)
    // The reported value comes back while the user goes on typing: the text stays.
    if (value !== reported) {
      setReported(value)
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
        report(currentTarget.value.trim())
      }}
    />
  )
}

/** Returns the texts of an EmptyState while filters are set. */
export function useFilteredTexts() {
  const t = useMessages(messages)
  return { title: t('nothingFound'), clear: t('clearFilters') }
}
