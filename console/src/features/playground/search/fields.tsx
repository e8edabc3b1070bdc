/** Fields of a search: the query and its scope. */
import { NumberInput, Select, Switch, TextInput } from '@mantine/core'
import { useMessages } from '../../../lib/i18n.tsx'
import type { FieldsProps } from '../frame/capability.ts'
import { useBinding } from '../frame/fields/bind.ts'
import { FieldRow } from '../frame/fields/row.tsx'
import { messages } from './messages.ts'
import { isWebSearch, type SearchValues } from './values.ts'

const TIMES = ['OneDay', 'OneWeek', 'OneMonth', 'OneYear'] as const
const COUNT_MAX = { web: 50, global: 20 }

export function SearchFields({ model, values, change }: FieldsProps<SearchValues>) {
  const t = useMessages(messages)
  const bind = useBinding(messages, { values, change })
  const isWeb = isWebSearch(model)
  const times = TIMES.map((value) => ({ value, label: t(value) }))
  return (
    <>
      <TextInput {...bind.text('query')} maxLength={100} />
      <FieldRow>
        <NumberInput
          {...bind.value('count')}
          min={1}
          max={isWeb ? COUNT_MAX.web : COUNT_MAX.global}
          allowDecimal={false}
        />
        {isWeb ? (
          <Select
            {...bind.choice('period', 'published')}
            data={[{ value: '', label: t('anyTime') }, ...times]}
          />
        ) : null}
      </FieldRow>
      {isWeb ? (
        <>
          <TextInput {...bind.text('sites')} placeholder={t('sitesHint')} />
          <Switch {...bind.toggle('isLong', 'summary')} />
        </>
      ) : null}
    </>
  )
}
