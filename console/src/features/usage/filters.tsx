/** What the list can be narrowed to; all of it stands in the address. */
import { TextInput } from '@mantine/core'
import { Filters, SelectFilter, TextFilter } from '../../components/filters.tsx'
import { useStatusOptions } from '../../components/work-status.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

export const FILTERS = ['from', 'to', 'model', 'endpoint', 'key', 'status', 'request_id'] as const
type Filter = (typeof FILTERS)[number]
type Values = Readonly<Record<Filter, string>>

export const NO_FILTERS: Values = {
  from: '',
  to: '',
  model: '',
  endpoint: '',
  key: '',
  status: '',
  request_id: '',
}

interface UsageFiltersProps {
  readonly values: Values
  readonly onChange: (changes: Partial<Values>) => void
}

export function UsageFilters({ values, onChange }: UsageFiltersProps) {
  const t = useMessages(messages)
  const states = useStatusOptions(['succeeded', 'failed', 'cancelled', 'lost'])
  const text = (name: Filter, label: string) => (
    <TextFilter
      label={label}
      value={values[name]}
      onChange={(value) => onChange({ [name]: value })}
    />
  )
  const day = (name: 'from' | 'to', label: string) => (
    <TextInput
      type="date"
      size="xs"
      aria-label={label}
      title={label}
      value={values[name].slice(0, 10)}
      onChange={({ currentTarget }) => onChange({ [name]: currentTarget.value })}
    />
  )
  return (
    <Filters>
      {day('from', t('from'))}
      {day('to', t('to'))}
      {text('model', t('model'))}
      {text('endpoint', t('endpoint'))}
      {text('key', t('keyId'))}
      {text('request_id', t('request'))}
      <SelectFilter
        label={t('status')}
        value={values.status}
        options={states}
        onChange={(status) => onChange({ status })}
      />
    </Filters>
  )
}
