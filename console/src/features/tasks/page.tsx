/** The tasks of an account, newest first and live; each opens its timeline and result. */

import { TASK_STATES } from '../../../../server/base/lib/kinds-and-states.ts'
import { ButtonLink } from '../../components/links.tsx'
import { ListPage } from '../../components/list/list-page.tsx'
import { useTaskKindOptions } from '../../components/state/work-kind.ts'
import { useStatusOptions } from '../../components/state/work-status.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { useAccount } from '../../lib/session.tsx'
import { type AdminPages, useAdminPages } from '../../lib/use-admin.ts'
import { type ShownTask, TASK_FIELDS, TASKS } from './fields.tsx'
import { messages } from './messages.ts'
import { TaskDrawer } from './task-drawer.tsx'

const FILTERS = ['search', 'kind', 'status', 'model'] as const

export function Page() {
  const t = useMessages(messages)
  const account = useAccount()
  const list = useListState(FILTERS)
  const { search, ...rest } = list.filters
  const pages: AdminPages<ShownTask> = useAdminPages(
    TASKS,
    { params: { account_id: account.id }, query: asQuery(TASKS, { ...rest, id: search }) },
    { live: ['tasks', 'deliveries'], keepPrevious: true },
  )
  const states = useStatusOptions(TASK_STATES)
  return (
    <ListPage
      messages={messages}
      fields={TASK_FIELDS}
      filters={[
        { name: 'search', word: 'anyId' },
        { name: 'kind', word: 'kind', options: useTaskKindOptions() },
        { name: 'status', word: 'status', options: states },
        { name: 'model', word: 'model' },
      ]}
      list={list}
      pages={pages}
      rowId={(task) => task.id}
      icon="clock"
      emptyAction={<ButtonLink to="/playground">{t('toPlayground')}</ButtonLink>}
    >
      <TaskDrawer id={list.openId} onClose={list.close} />
    </ListPage>
  )
}
