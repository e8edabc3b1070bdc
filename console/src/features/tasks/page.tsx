/** The tasks of an account, the newest first and live; each opens its life and what it made. */

import { ButtonLink } from '../../components/links.tsx'
import { DataTable } from '../../components/list/data-table.tsx'
import { FilteredEmpty } from '../../components/list/filtered-empty.tsx'
import { Filters, SelectFilter, TextFilter } from '../../components/list/filters.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { useStatusOptions } from '../../components/state/work-status.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { type ListState, useListState } from '../../lib/list-state.ts'
import { useAccount } from '../../lib/session.tsx'
import { useAdminPages } from '../../lib/use-admin.ts'
import { TASKS, useTaskColumns } from './columns.tsx'
import { messages } from './messages.ts'
import { TaskDrawer } from './task-drawer.tsx'

const KINDS = ['video', 'minutes', 'erase', 'image', 'response'] as const
const FILTERS = ['search', 'kind', 'status', 'model'] as const

export function Page() {
  const t = useMessages(messages)
  const account = useAccount()
  const list = useListState(FILTERS)
  const { search, ...rest } = list.filters
  const pages = useAdminPages(
    TASKS,
    { params: { account_id: account.id }, query: asQuery(TASKS, { ...rest, id: search }) },
    { live: ['tasks', 'deliveries'], keepPrevious: true },
  )
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} />
      <TaskFilters list={list} />
      <DataTable
        label={t('title')}
        pages={pages}
        columns={useTaskColumns()}
        rowId={(task) => task.id}
        onOpen={(task) => list.open(task.id)}
        openId={list.openId}
        empty={
          <FilteredEmpty
            icon="clock"
            isFiltered={list.isFiltered}
            onClear={list.clearFilters}
            title={t('emptyTitle')}
            action={<ButtonLink to="/playground">{t('toPlayground')}</ButtonLink>}
          >
            {t('emptyText')}
          </FilteredEmpty>
        }
      />
      <TaskDrawer id={list.openId} onClose={list.close} />
    </>
  )
}

interface TaskFiltersProps {
  readonly list: ListState<(typeof FILTERS)[number]>
}

function TaskFilters({ list }: TaskFiltersProps) {
  const t = useMessages(messages)
  return (
    <Filters>
      <TextFilter label={t('anyId')} {...list.field('search')} />
      <SelectFilter
        label={t('kind')}
        options={KINDS.map((value) => ({ value, label: t(value) }))}
        {...list.field('kind')}
      />
      <SelectFilter
        label={t('status')}
        options={useStatusOptions(['queued', 'processing', 'succeeded', 'failed'])}
        {...list.field('status')}
      />
      <TextFilter label={t('model')} {...list.field('model')} />
    </Filters>
  )
}
