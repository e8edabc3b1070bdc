/** Filters of the list, all kept in the URL. */
import { TextInput } from '@mantine/core'
import { SelectFilter, TextFilter } from '../../components/list/filters.tsx'
import { useStatusOptions } from '../../components/state/work-status.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import type { ListState } from '../../lib/list-state.ts'
import { messages } from './messages.ts'

export const FILTERS = ['from', 'to', 'model', 'endpoint', 'key', 'status', 'request_id'] as const

interface UsageFiltersProps {
  readonly list: ListState<(typeof FILTERS)[number]>
}

export function UsageFilters({ list }: UsageFiltersProps) {
  const t = useMessages(messages)
  const states = useStatusOptions(['succeeded', 'failed', 'cancelled', 'lost'])
  const day = (name: 'from' | 'to', label: string) => (
    <TextInput
      type="date"
      size="xs"
      aria-label={label}
      title={label}
      value={list.filters[name].slice(0, 10)}
      onChange={({ currentTarget }) => list.field(name).onChange(currentTarget.value)}
    />
  )
  return (
    <>
      {day('from', t('from'))}
      {day('to', t('to'))}
      <TextFilter label={t('model')} {...list.field('model')} />
      <TextFilter label={t('endpoint')} {...list.field('endpoint')} />
      <TextFilter label={t('keyId')} {...list.field('key')} />
      <TextFilter label={t('request')} {...list.field('request_id')} />
      <SelectFilter label={t('status')} options={states} {...list.field('status')} />
    </>
  )
}
