/** The calls of all accounts, the newest first. */

import { Text } from '@mantine/core'
import { ENDED_STATUSES } from '../../../../server/base/lib/kinds-and-states.ts'
import { TextLink } from '../../components/links.tsx'
import { type RowFields, showOwner } from '../../components/list/fields.tsx'
import { ListPage } from '../../components/list/list-page.tsx'
import { BasisText } from '../../components/prices/basis-text.tsx'
import { useStatusOptions, WorkStatus } from '../../components/state/work-status.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { formatDuration } from '../../lib/format.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { type RowOf, useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import { Tries } from './tries.tsx'

const KEY = 'GET /operator/calls'
type Call = RowOf<typeof KEY>
const FILTERS = [
  ...(['account', 'model', 'endpoint', 'status', 'review', 'loss', 'request_id'] as const),
  ...(['from', 'to'] as const),
] as const

const FIELDS: RowFields<Call, (typeof messages)['en']> = [
  { key: 'request_id', word: 'request', as: 'copy', in: 'details' },
  {
    word: 'status',
    place: 4,
    show: ({ review, status }, { isFact }) => (
      <WorkStatus status={review && !isFact ? 'review' : status} />
    ),
  },
  { word: 'account', in: 'list', place: 2, minor: true, show: showOwner },
  { word: 'account', in: 'details', show: (call) => <AccountLink call={call} /> },
  { key: 'model', as: 'line', in: 'list', place: 3 },
  { key: 'channel', as: 'line', in: 'list', place: 5, minor: true },
  { key: 'endpoint', in: 'details' },
  { word: 'attempts', in: 'details', show: ({ tries }) => <Tries tries={tries} /> },
  { key: 'key_id', word: 'key', as: 'copy', in: 'details' },
  { key: 'end_user', names: ['End user', '终端用户'], as: 'copy', in: 'details' },
  { key: 'task_id', word: 'task', as: 'copy', in: 'details' },
  { key: 'created_at', word: 'time', as: 'time', place: 1 },
  {
    word: 'duration',
    in: 'details',
    show: ({ created_at, finished_at }, { language }) =>
      formatDuration(Date.parse(finished_at) - Date.parse(created_at), language),
  },
  { key: 'held', as: 'money', in: 'details' },
  { key: 'charged', as: 'money' },
  { key: 'upstream_cost', word: 'cost', as: 'money', minor: true, absent: ['–', 'unknown'] },
  { key: 'margin', as: 'money', absent: ['–', 'unknown'] },
  { word: 'basis', in: 'details', show: ({ basis }) => basis && <BasisText basis={basis} /> },
  {
    word: 'error',
    in: 'details',
    show: ({ error }, { textOf }) => error && <Text size="sm">{textOf(error)}</Text>,
  },
]

export function Page() {
  const t = useMessages(messages)
  const list = useListState(FILTERS)
  const pages = useAdminPages(KEY, { query: asQuery(KEY, list.filters) }, { keepPrevious: true })
  const states = useStatusOptions(ENDED_STATUSES)
  return (
    <ListPage
      messages={messages}
      fields={FIELDS}
      filters={[
        'period',
        { name: 'request_id', word: 'request' },
        { name: 'account', word: 'filterAccount' },
        { name: 'model', word: 'model' },
        { name: 'status', word: 'status', options: states },
        { name: 'review', word: 'onlyReview', option: 'onlyReview' },
        { name: 'loss', word: 'atALoss', option: 'atALoss' },
      ]}
      list={list}
      pages={pages}
      rowId={(row) => row.request_id}
      icon="phone"
      drawer={{
        title: ({ model, endpoint }) => model || endpoint,
        below: (call) => (
          <TextLink to="/usage" search={{ account: call.account_id, id: call.request_id }}>
            {t('explain')}
          </TextLink>
        ),
      }}
    />
  )
}

function AccountLink({ call: { account_id: id, account_name: name } }: { readonly call: Call }) {
  return (
    <TextLink to="/operator/accounts" search={{ id }}>
      {name} · {id}
    </TextLink>
  )
}
