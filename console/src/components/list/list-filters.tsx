/** The filters of a list as data: texts, choices and a period. */
import type { ReactNode } from 'react'
import { useMessages } from '../../lib/i18n.tsx'
import type { ListState } from '../../lib/list-state.ts'
import type { Period } from '../../lib/period.ts'
import type { Catalogue } from '../../lib/texts.ts'
import type { Texts } from './fields.tsx'
import { Filters, SelectFilter, TextFilter } from './filters.tsx'
import { PeriodPicker } from './period-picker.tsx'

interface NamedFilter<Words, Name> {
  readonly name: Name
  readonly word: Extract<keyof Words, string>
  /** Without them it is a text. */
  readonly options?: readonly { readonly value: string; readonly label: string }[]
  /** The only option, `true`, by its word. */
  readonly option?: Extract<keyof Words, string>
  /** See SelectFilter. */
  readonly onSearch?: (text: string) => void
}

/** `time` is a period to the minute. */
export type ListFilter<Words, Name> = NamedFilter<Words, Name> | 'period' | 'time'

interface ListFiltersProps<Words extends Texts, Name extends string> {
  readonly messages: Catalogue<Words>
  readonly list: Pick<ListState<Name>, 'field' | 'filters' | 'setFilters'>
  readonly filters: readonly ListFilter<Words, Name>[]
  readonly children?: ReactNode
}

export function ListFilters<Words extends Texts, Name extends string>(
  props: ListFiltersProps<Words, Name>,
) {
  const t = useMessages<Texts>(props.messages)
  const { list } = props
  return (
    <Filters>
      {props.filters.map((filter) => {
        if (typeof filter === 'string') {
          const { filters, setFilters } = list as unknown as ListState<keyof Period>
          const isTime = filter === 'time'
          return (
            <PeriodPicker key={filter} value={filters} onChange={setFilters} withTime={isTime} />
          )
        }
        const { name, word, option } = filter
        const { options = option && [{ value: 'true', label: t(option) }] } = filter
        const field = { label: t(word), ...list.field(name) }
        if (!options) return <TextFilter key={name} {...field} />
        return <SelectFilter key={name} {...field} options={options} onSearch={filter.onSearch} />
      })}
      {props.children}
    </Filters>
  )
}
