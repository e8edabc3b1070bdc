/** The tasks of all accounts, the newest first. */
import { TASK_STATES } from '../../../../server/base/lib/kinds-and-states.ts'
import { TextLink } from '../../components/links.tsx'
import { type RowFields, showOwner } from '../../components/list/fields.tsx'
import { ListPage } from '../../components/list/list-page.tsx'
import { useTaskKindOptions } from '../../components/state/work-kind.ts'
import { useStatusOptions } from '../../components/state/work-status.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { type RowOf, useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const KEY = 'GET /operator/tasks'
const FILTERS = ['account', 'kind', 'status', 'channel', 'id'] as const
/** Refetches while the task is open. */
const REFRESH_MS = 10_000

const FIELDS: RowFields<RowOf<typeof KEY>, (typeof messages)['en']> = [
  { key: 'id', as: 'copy', in: 'details' },
  { key: 'upstream_id', word: 'upstreamId', as: 'copy', in: 'details' },
  { key: 'status', as: 'status', place: 5 },
  { word: 'account', place: 2, show: showOwner },
  { key: 'kind', as: 'kind', in: 'list', place: 3 },
  { key: 'model', place: 4, minor: true },
  { key: 'channel', place: 6, minor: true },
  { key: 'created_at', word: 'created', as: 'time', place: 1 },
  { key: 'finished_at', word: 'finished', as: 'time', in: 'details', absent: '–' },
  { key: 'polls', minor: true, align: 'right' },
  { key: 'next_poll_at', word: 'nextPoll', as: 'ago', in: 'list', minor: true },
  { word: 'failures', in: 'details', show: ({ failures }) => failures || undefined },
  { key: 'error', in: 'details' },
  { key: 'request_id', word: 'request', as: 'copy', in: 'details' },
]

export function Page() {
  const t = useMessages(messages)
  const list = useListState(FILTERS, 'task')
  const request = { query: asQuery(KEY, list.filters) }
  const pages = useAdminPages(KEY, request, { keepPrevious: true, refetchEveryMs: REFRESH_MS })
  const states = useStatusOptions(TASK_STATES)
  const open = { value: 'open', label: t('open') }
  return (
    <ListPage
      messages={messages}
      fields={FIELDS}
      filters={[
        { name: 'id', word: 'anyId' },
        { name: 'account', word: 'filterAccount' },
        { name: 'kind', word: 'kind', options: useTaskKindOptions() },
        { name: 'status', word: 'status', options: [open, ...states] },
        { name: 'channel', word: 'channel' },
      ]}
      list={list}
      pages={pages}
      rowId={(row) => row.id}
      icon="clock"
      drawer={{
        title: ({ kind }, { kindName }) => kindName(kind),
        below: (task) => (
          <TextLink to="/usage" search={{ account: task.account_id, id: task.request_id }}>
            {t('call')}
          </TextLink>
        ),
      }}
    />
  )
}
