/** The alerts of all accounts and those for operators, newest first. */
import { ALERT_EVENTS } from '../../../../server/base/lib/kinds-and-states.ts'
import { ListPage } from '../../components/list/list-page.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { useAdminPages } from '../../lib/use-admin.ts'
import { nameOfAlert } from './alert-text.ts'
import { OPERATOR_FIELDS } from './fields.tsx'
import { AlertLinks } from './links.tsx'
import { messages } from './messages.ts'

const KEY = 'GET /operator/alerts'

export function Page() {
  const t = useMessages(messages)
  const list = useListState(['account', 'event', 'from', 'to'])
  const pages = useAdminPages(KEY, { query: asQuery(KEY, list.filters) }, { keepPrevious: true })
  return (
    <ListPage
      messages={messages}
      fields={OPERATOR_FIELDS}
      filters={[
        { name: 'account', word: 'filterAccount' },
        {
          name: 'event',
          word: 'event',
          options: ALERT_EVENTS.map((value) => ({ value, label: t(value) })),
        },
        'period',
      ]}
      list={list}
      pages={pages}
      rowId={(row) => row.id}
      icon="bell"
      drawer={{
        title: nameOfAlert,
        above: (row) => <AlertLinks alert={row} />,
      }}
    />
  )
}
