/** Filters of the list, all kept in the URL: pickers with names, and a period. */
import { ENDED_STATUSES } from '../../../../server/base/lib/kinds-and-states.ts'
import { useKeyChoice } from '../../components/fields/use-key-choice.ts'
import { SelectFilter, TextFilter } from '../../components/list/filters.tsx'
import { PeriodPicker } from '../../components/list/period-picker.tsx'
import { useStatusOptions } from '../../components/state/work-status.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import type { ListState } from '../../lib/list-state.ts'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

export const FILTERS = [
  'from',
  'to',
  'model',
  'endpoint',
  'key',
  'member',
  'tag',
  'end_user',
  'status',
  'request_id',
] as const

const MODELS_OFFERED = 500

interface UsageFiltersProps {
  readonly list: ListState<(typeof FILTERS)[number]>
  /** Names that occurred in the period. */
  readonly endpoints: readonly string[]
}

export function UsageFilters({ list, endpoints }: UsageFiltersProps) {
  const t = useMessages(messages)
  const states = useStatusOptions(ENDED_STATUSES)
  const { id } = useAccount()
  const params = { account_id: id }
  const models = useAdmin('GET /accounts/:account_id/models', {
    params,
    query: { limit: MODELS_OFFERED },
  })
  const members = useAdmin('GET /accounts/:account_id/members', { params })
  const { model, endpoint, key, member } = list.filters
  const { keys, options: keyOptions, onSearch } = useKeyChoice(key)
  const modelIds = withChosen(
    (models.data?.data ?? []).map((one) => one.id),
    model,
  )
  // Those who have left are named by their keys.
  const people = new Map([
    ...keys.flatMap(({ created_by: by }) => (by ? [[by.user_id, by.name] as const] : [])),
    ...(members.data?.data ?? []).map(({ id: person, name }) => [person, name] as const),
  ])
  return (
    <>
      <PeriodPicker value={list.filters} onChange={list.setFilters} />
      <SelectFilter label={t('model')} options={toOptions(modelIds)} {...list.field('model')} />
      <SelectFilter
        label={t('key')}
        options={keyOptions}
        onSearch={onSearch}
        {...list.field('key')}
      />
      <SelectFilter
        label={t('member')}
        options={withChosen([...people.keys()], member).map((value) => ({
          value,
          label: people.get(value) || value,
        }))}
        {...list.field('member')}
      />
      <SelectFilter
        label={t('endpoint')}
        options={toOptions(withChosen(endpoints, endpoint))}
        {...list.field('endpoint')}
      />
      <TextFilter label={t('tag')} {...list.field('tag')} />
      <TextFilter label={t('endUser')} {...list.field('end_user')} />
      <SelectFilter label={t('status')} options={states} {...list.field('status')} />
      <TextFilter label={t('request')} {...list.field('request_id')} />
    </>
  )
}

const toOptions = (names: readonly string[]) => names.map((name) => ({ value: name, label: name }))

/** Keeps what the address names selectable, even if it is not known here. */
function withChosen(names: readonly string[], chosen: string): readonly string[] {
  return chosen === '' || names.includes(chosen) ? names : [...names, chosen]
}
