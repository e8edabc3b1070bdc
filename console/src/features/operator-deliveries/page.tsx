/** The webhook deliveries of all accounts, the newest first. */
import { Button, Stack, Text } from '@mantine/core'
import { RedeliverDropped } from '../../components/form/redeliver-dialog.tsx'
import { useSubmit } from '../../components/form/use-submit.ts'
import { TextLink } from '../../components/links.tsx'
import type { Column } from '../../components/list/data-table.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { SelectFilter, TextFilter } from '../../components/list/filters.tsx'
import { ListPage } from '../../components/list/list-page.tsx'
import { PeriodPicker } from '../../components/list/period-picker.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { useWorkKind } from '../../components/state/work-kind.ts'
import { useStatusOptions, WorkStatus } from '../../components/state/work-status.tsx'
import { AccountName } from '../../components/text/account-name.tsx'
import { CopyText } from '../../components/text/copy-button.tsx'
import { KeyValue } from '../../components/text/key-value.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages, useServerText } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { type RowOf, useAdminChange, useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const KEY = 'GET /operator/deliveries'
const FILTERS = ['id', 'account', 'state', 'task_id', 'host', 'from', 'to'] as const
type Delivery = RowOf<typeof KEY>

export function Page() {
  const t = useMessages(messages)
  const kindName = useWorkKind()
  const list = useListState(FILTERS, 'delivery')
  const pages = useAdminPages(KEY, { query: asQuery(KEY, list.filters) }, { keepPrevious: true })
  const open = pages.rows.find(({ id }) => id === list.openId)
  const { account } = list.filters
  const again = useAdminChange('POST /operator/deliveries/redeliver', { refreshes: [KEY] })
  const states = useStatusOptions(['pending', 'delivered', 'dropped'])
  return (
    <ListPage
      title={t('title')}
      description={t('description')}
      actions={
        <RedeliverDropped
          filters={list.filters}
          onSend={(span) => again.mutateAsync({ body: { ...span, ...(account && { account }) } })}
        />
      }
      filters={
        <>
          <TextFilter label={t('id')} {...list.field('id')} />
          <TextFilter label={t('taskId')} {...list.field('task_id')} />
          <TextFilter label={t('filterAccount')} {...list.field('account')} />
          <TextFilter label={t('host')} {...list.field('host')} />
          <SelectFilter label={t('state')} options={states} {...list.field('state')} />
          <PeriodPicker value={list.filters} onChange={list.setFilters} withTime />
        </>
      }
      list={list}
      pages={pages}
      columns={useColumns()}
      rowId={(row) => row.id}
      empty={{ icon: 'send', title: t('emptyTitle'), text: t('emptyText') }}
    >
      <DetailDrawer
        isOpen={open !== undefined}
        title={open ? kindName(open.kind) : ''}
        onClose={list.close}
      >
        {open ? <DeliveryDetails delivery={open} /> : null}
      </DetailDrawer>
    </ListPage>
  )
}

function useColumns(): Column<Delivery>[] {
  const t = useMessages(messages)
  const kindName = useWorkKind()
  const textOf = useServerText()
  return [
    {
      key: 'created',
      header: t('created'),
      render: (row) => <TimeText time={row.created_at} />,
      isTime: true,
    },
    {
      key: 'account',
      header: t('account'),
      render: (row) => <AccountName id={row.account_id} name={row.account_name} />,
    },
    { key: 'kind', header: t('kind'), render: (row) => kindName(row.kind), minor: true },
    {
      key: 'url',
      header: t('url'),
      render: (row) => (
        <Text size="sm" truncate maw={320} title={row.url}>
          {row.url}
        </Text>
      ),
    },
    { key: 'state', header: t('state'), render: (row) => <WorkStatus status={row.state} /> },
    { key: 'attempts', header: t('attempts'), render: (row) => row.attempts, align: 'right' },
    {
      key: 'last',
      header: t('lastAnswer'),
      render: (row) => row.last_status ?? (row.last_error ? textOf(row.last_error) : '–'),
      minor: true,
    },
  ]
}

interface DetailsProps {
  readonly delivery: Delivery
}

function DeliveryDetails({ delivery }: DetailsProps) {
  return (
    <Stack gap="lg">
      <Facts delivery={delivery} />
      {delivery.state === 'pending' ? null : <Again delivery={delivery} />}
    </Stack>
  )
}

/** A delivery is sent again once; then the new one is a click away. */
function Again({ delivery }: DetailsProps) {
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

function Facts({ delivery }: DetailsProps) {
  const t = useMessages(messages)
  const { task_id: taskId } = delivery
  const textOf = useServerText()
  return (
    <KeyValue
      facts={[
        { label: t('id'), value: <CopyText value={delivery.id} /> },
        { label: t('state'), value: <WorkStatus status={delivery.state} /> },
        { label: t('account'), value: `${delivery.account_name} · ${delivery.account_id}` },
        { label: t('url'), value: <CopyText value={delivery.url} /> },
        { label: t('task'), value: taskId ? <CopyText value={taskId} /> : undefined },
        { label: t('attempts'), value: delivery.attempts },
        {
          label: t('lastAnswer'),
          value: delivery.last_error ? textOf(delivery.last_error) : delivery.last_status,
        },
        { label: t('created'), value: <TimeText time={delivery.created_at} form="full" /> },
        { label: t('finished'), value: <TimeText time={delivery.finished_at} form="full" /> },
      ]}
    />
  )
}
