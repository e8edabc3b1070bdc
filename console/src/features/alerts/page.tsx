/** The alerts of an account, newest first, and whether they arrived. */
import { ALERT_EVENTS } from '../../../../server/base/lib/kinds-and-states.ts'
import { ButtonLink } from '../../components/links.tsx'
import { ListPage } from '../../components/list/list-page.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { useAccount } from '../../lib/session.tsx'
import { useAdminPages } from '../../lib/use-admin.ts'
import { nameOfAlert } from './alert-text.ts'
import { ALERT_FIELDS } from './fields.tsx'
import { AlertLinks } from './links.tsx'
import { messages } from './messages.ts'

const KEY = 'GET /accounts/:account_id/alerts'

export function Page() {
  const t = useMessages(messages)
  const { id, isOwner } = useAccount()
  const list = useListState(['event', 'from', 'to'])
  const request = { params: { account_id: id }, query: asQuery(KEY, list.filters) }
  const pages = useAdminPages(KEY, request, {
    live: ['balance', 'usage', 'deliveries'],
    keepPrevious: true,
  })
  const ofAccounts = ALERT_EVENTS.filter((event) => event !== 'books.unbalanced')
  return (
    <ListPage
      messages={messages}
      fields={ALERT_FIELDS}
      actions={
        isOwner ? (
          <ButtonLink to="/settings" variant="default">
            {t('settings')}
          </ButtonLink>
        ) : undefined
      }
      filters={[
        {
          name: 'event',
          word: 'event',
          options: ofAccounts.map((value) => ({ value, label: t(value) })),
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
