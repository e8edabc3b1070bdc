/** The tasks of an account, the newest first and live; each opens its life and what it made. */
import { DataTable } from '../../components/data-table.tsx'
import { FilteredEmpty } from '../../components/filtered-empty.tsx'
import { Filters, SelectFilter, TextFilter } from '../../components/filters.tsx'
import { ButtonLink } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { useStatusOptions } from '../../components/work-status.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useUrlState } from '../../lib/url-state.ts'
import { useAdminPages } from '../../lib/use-admin.ts'
import { TASKS, useColumns } from './columns.tsx'
import { messages } from './messages.ts'
import { TaskDrawer } from './task-drawer.tsx'

const KINDS = ['video', 'minutes', 'erase', 'image'] as const
const FILTERS = ['search', 'kind', 'status', 'model'] as const
const NO_FILTERS = { search: '', kind: '', status: '', model: '' }

export function Page() {
  const t = useMessages(messages)
  const account = useAccount()
  const url = useUrlState([...FILTERS, 'id'])
  const { id, search, ...rest } = url.values
  const pages = useAdminPages(
    TASKS,
    { params: { account_id: account.id }, query: asQuery(TASKS, { ...rest, id: search }) },
    { live: ['tasks', 'deliveries'], keepPrevious: true },
  )
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} />
      <TaskFilters values={url.values} onChange={url.set} />
      <DataTable
        label={t('title')}
        pages={pages}
        columns={useColumns()}
        rowId={(task) => task.id}
        onOpen={(task) => url.push({ id: task.id })}
        openId={id}
        empty={
          <FilteredEmpty
            icon="clock"
            isFiltered={FILTERS.some((name) => url.values[name] !== '')}
            onClear={() => url.set(NO_FILTERS)}
            title={t('emptyTitle')}
            action={<ButtonLink to="/playground">{t('toPlayground')}</ButtonLink>}
          >
            {t('emptyText')}
          </FilteredEmpty>
        }
      />
      <TaskDrawer id={id} onClose={() => url.set({ id: '' })} />
    </>
  )
}

type Filter = (typeof FILTERS)[number]

interface TaskFiltersProps {
  readonly values: Readonly<Record<Filter, string>>
  readonly onChange: (changes: Partial<Record<Filter, string>>) => void
}

function TaskFilters({ values, onChange }: TaskFiltersProps) {
  const t = useMessages(messages)
  return (
    <Filters>
      <TextFilter
        label={t('anyId')}
        value={values.search}
        onChange={(search) => onChange({ search })}
      />
      <SelectFilter
        label={t('kind')}
        value={values.kind}
        options={KINDS.map((value) => ({ value, label: t(value) }))}
        onChange={(kind) => onChange({ kind })}
      />
      <SelectFilter
        label={t('status')}
        value={values.status}
        options={useStatusOptions(['queued', 'processing', 'succeeded', 'failed'])}
        onChange={(status) => onChange({ status })}
      />
      <TextFilter
        label={t('model')}
        value={values.model}
        onChange={(model) => onChange({ model })}
      />
    </Filters>
  )
}
