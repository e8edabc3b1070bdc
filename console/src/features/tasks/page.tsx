/** The tasks of an account, newest first and live; each opens its timeline and result. */

import { ButtonLink } from '../../components/links.tsx'
import { SelectFilter, TextFilter } from '../../components/list/filters.tsx'
import { ListPage } from '../../components/list/list-page.tsx'
import { useTaskKindOptions } from '../../components/state/work-kind.ts'
import { useStatusOptions } from '../../components/state/work-status.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { type ListState, useListState } from '../../lib/list-state.ts'
import { useAccount } from '../../lib/session.tsx'
import { useAdminPages } from '../../lib/use-admin.ts'
import { TASKS, useTaskColumns } from './columns.tsx'
import { messages } from './messages.ts'
import { TaskDrawer } from './task-drawer.tsx'

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
    <ListPage
      title={t('title')}
      description={t('description')}
      filters={<TaskFilters list={list} />}
      list={list}
      pages={pages}
      columns={useTaskColumns()}
      rowId={(task) => task.id}
      empty={{
        icon: 'clock',
        title: t('emptyTitle'),
        text: t('emptyText'),
        action: <ButtonLink to="/playground">{t('toPlayground')}</ButtonLink>,
      }}
    >
      <TaskDrawer id={list.openId} onClose={list.close} />
    </ListPage>
  )
}

interface TaskFiltersProps {
  readonly list: ListState<(typeof FILTERS)[number]>
}

function TaskFilters({ list }: TaskFiltersProps) {
  const t = useMessages(messages)
  return (
    <>
      <TextFilter label={t('anyId')} {...list.field('search')} />
      <SelectFilter label={t('kind')} options={useTaskKindOptions()} {...list.field('kind')} />
      <SelectFilter
        label={t('status')}
        options={useStatusOptions(['queued', 'processing', 'succeeded', 'failed'])}
        {...list.field('status')}
      />
      <TextFilter label={t('model')} {...list.field('model')} />
    </>
  )
}
