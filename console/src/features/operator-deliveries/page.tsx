/** The webhook deliveries of all accounts, the newest first. */
import { Text } from '@mantine/core'
import type { Column } from '../../components/list/data-table.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { SelectFilter, TextFilter } from '../../components/list/filters.tsx'
import { ListPage } from '../../components/list/list-page.tsx'
import { useWorkKind } from '../../components/state/work-kind.ts'
import { useStatusOptions, WorkStatus } from '../../components/state/work-status.tsx'
import { CopyText } from '../../components/text/copy-button.tsx'
import { KeyValue } from '../../components/text/key-value.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages, useServerText } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { type RowOf, useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const KEY = 'GET /operator/deliveries'
type Delivery = RowOf<typeof KEY>

export function Page() {
  const t = useMessages(messages)
  const kindName = useWorkKind()
  const list = useListState(['id', 'account', 'state', 'task_id'], 'delivery')
  const pages = useAdminPages(KEY, { query: asQuery(KEY, list.filters) }, { keepPrevious: true })
  const open = pages.rows.find(({ id }) => id === list.openId)
  const states = useStatusOptions(['pending', 'delivered', 'dropped'])
  return (
    <ListPage
      title={t('title')}
      description={t('description')}
      filters={
        <>
          <TextFilter label={t('id')} {...list.field('id')} />
          <TextFilter label={t('taskId')} {...list.field('task_id')} />
          <TextFilter label={t('filterAccount')} {...list.field('account')} />
          <SelectFilter label={t('state')} options={states} {...list.field('state')} />
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
    { key: 'account', header: t('account'), render: (row) => row.account_name },
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

function DeliveryDetails({ delivery }: { readonly delivery: Delivery }) {
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
