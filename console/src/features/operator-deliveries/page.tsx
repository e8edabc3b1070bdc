/** The webhook deliveries of all accounts, the newest first. */

import { Button, Text } from '@mantine/core'
import { DELIVERY_STATES } from '../../../../server/base/lib/kinds-and-states.ts'
import { RedeliverDropped } from '../../components/form/redeliver-dialog.tsx'
import { useSubmit } from '../../components/form/use-submit.ts'
import { TextLink } from '../../components/links.tsx'
import { type RowFields, showOwner } from '../../components/list/fields.tsx'
import { ListPage } from '../../components/list/list-page.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { useStatusOptions } from '../../components/state/work-status.tsx'
import { CopyText } from '../../components/text/copy-button.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { type RowOf, useAdminChange, useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const KEY = 'GET /operator/deliveries'
const FILTERS = ['id', 'account', 'state', 'task_id', 'host', 'from', 'to'] as const
type Delivery = RowOf<typeof KEY>

const FIELDS: RowFields<Delivery, (typeof messages)['en']> = [
  { key: 'id', as: 'copy', in: 'details' },
  { key: 'state', as: 'status', place: 5 },
  { word: 'account', place: 2, show: showOwner },
  { key: 'kind', as: 'kind', in: 'list', place: 3, minor: true },
  { word: 'url', place: 4, show: showUrl },
  { key: 'task_id', word: 'task', as: 'copy', in: 'details' },
  { key: 'attempts', place: 6, align: 'right' },
  {
    word: 'lastAnswer',
    place: 7,
    minor: true,
    show: ({ last_status: status, last_error: error }, { textOf, isFact }) => {
      const words = error && textOf(error)
      return isFact ? (words ?? status) : (status ?? words ?? '–')
    },
  },
  { key: 'created_at', word: 'created', as: 'time', place: 1 },
  { key: 'finished_at', word: 'finished', as: 'time', in: 'details', absent: '–' },
]

export function Page() {
  const list = useListState(FILTERS, 'delivery')
  const pages = useAdminPages(KEY, { query: asQuery(KEY, list.filters) }, { keepPrevious: true })
  const { account } = list.filters
  const again = useAdminChange('POST /operator/deliveries/redeliver', { refreshes: [KEY] })
  const states = useStatusOptions(DELIVERY_STATES)
  return (
    <ListPage
      messages={messages}
      fields={FIELDS}
      actions={
        <RedeliverDropped
          filters={list.filters}
          onSend={(span) => again.mutateAsync({ body: { ...span, ...(account && { account }) } })}
        />
      }
      filters={[
        { name: 'id', word: 'id' },
        { name: 'task_id', word: 'taskId' },
        { name: 'account', word: 'filterAccount' },
        { name: 'host', word: 'host' },
        { name: 'state', word: 'state', options: states },
        'time',
      ]}
      list={list}
      pages={pages}
      rowId={(row) => row.id}
      icon="send"
      drawer={{
        title: ({ kind }, { kindName }) => kindName(kind),
        below: (row) => (row.state === 'pending' ? null : <Again delivery={row} />),
      }}
    />
  )
}

function showUrl({ url }: Delivery, { isFact }: { readonly isFact: boolean }) {
  if (isFact) return <CopyText value={url} />
  return (
    <Text size="sm" truncate maw={320} title={url}>
      {url}
    </Text>
  )
}

/** A delivery is sent again once; then the new one is a click away. */
function Again({ delivery }: { readonly delivery: Delivery }) {
  const t = useMessages(messages)
  const again = useAdminChange(
    'POST /accounts/:account_id/webhooks/deliveries/:delivery_id/redeliver',
    { refreshes: [KEY] },
  )
  const { account_id, id: delivery_id, redelivered_as: next } = delivery
  const { isBusy, failure, submit } = useSubmit<undefined>(async () => {
    await again.mutateAsync({ params: { account_id, delivery_id } })
    notifyDone(t('redelivered'))
  })
  if (next) {
    return (
      <TextLink to="/operator/deliveries" search={{ id: next, delivery: next }} size="sm">
        {t('openNext')}
      </TextLink>
    )
  }
  return (
    <>
      <div>
        <Button variant="default" loading={isBusy} onClick={() => submit(undefined)}>
          {t('redeliver')}
        </Button>
      </div>
      {failure ? <ErrorState error={failure} /> : null}
    </>
  )
}
