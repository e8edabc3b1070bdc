/** Fields of a search: the query and its scope. */
import { NumberInput, Select, Switch, TextInput } from '@mantine/core'
import { useMessages } from '../../../lib/i18n.tsx'
import type { FieldsProps } from '../frame/capability.ts'
import { FieldRow } from '../frame/fields/row.tsx'
import { messages } from './messages.ts'
import { isWebSearch, type SearchValues } from './values.ts'

const TIMES = ['OneDay', 'OneWeek', 'OneMonth', 'OneYear'] as const
const COUNT_MAX = { web: 50, global: 20 }

export function SearchFields({ model, values, change }: FieldsProps<SearchValues>) {
  const t = useMessages(messages)
  const isWeb = isWebSearch(model)
  const times = TIMES.map((value) => ({ value, label: t(value) }))
  return (
    <>
      <TextInput
        label={t('query')}
        value={values.query}
        onChange={({ currentTarget }) => change({ query: currentTarget.value })}
        maxLength={100}
      />
      <FieldRow>
        <NumberInput
          label={t('count')}
          value={values.count}
          onChange={(count) => change({ count })}
          min={1}
          max={isWeb ? COUNT_MAX.web : COUNT_MAX.global}
          allowDecimal={false}
        />
        {isWeb ? (
          <Select
            label={t('published')}
            data={[{ value: '', label: t('anyTime') }, ...times]}
            value={values.period}
            onChange={(when) => change({ period: when ?? '' })}
            allowDeselect={false}
          />
        ) : null}
      </FieldRow>
      {isWeb ? (
        <>
          <TextInput
            label={t('sites')}
            placeholder={t('sitesHint')}
            value={values.sites}
            onChange={({ currentTarget }) => change({ sites: currentTarget.value })}
          />
          <Switch
            label={t('summary')}
            checked={values.isLong}
            onChange={({ currentTarget }) => change({ isLong: currentTarget.checked })}
          />
        </>
      ) : null}
    </>
  )
}
