/** A choice of the base prices or one of the lists in a currency. */
import { Select } from '@mantine/core'
import { CheckedField } from '../../components/form/checked-form.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import { BASE_LIST } from './price-cell.tsx'

interface ListSelectProps {
  /** The server's name of the field. */
  readonly param: string
  readonly label: string
  readonly description: string
  readonly currency: string
  readonly value: string
  readonly onChange: (id: string) => void
}

const LISTS_OFFERED = 500

/** Returns the lists that are not of single accounts. */
export function useSharedLists() {
  const query = { own: 'false', limit: LISTS_OFFERED } as const
  return useAdmin('GET /operator/price-lists', { query }).data?.data ?? []
}

export function ListSelect({ param, currency, onChange, ...props }: ListSelectProps) {
  const t = useMessages(messages)
  const lists = useSharedLists().filter((list) => list.currency === currency)
  return (
    <CheckedField param={param}>
      {(error) => (
        <Select
          {...props}
          searchable
          allowDeselect={false}
          data={[
            { value: BASE_LIST, label: t('base') },
            ...lists.map(({ id }) => ({ value: id, label: id })),
          ]}
          error={error}
          onChange={(chosen) => onChange(chosen ?? BASE_LIST)}
        />
      )}
    </CheckedField>
  )
}
