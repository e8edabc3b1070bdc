/** The audit log, newest first. */
import { Stack, Text } from '@mantine/core'
import type { Column } from '../../components/list/data-table.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { TextFilter } from '../../components/list/filters.tsx'
import { ListPage } from '../../components/list/list-page.tsx'
import { CodeSnippet } from '../../components/text/code-snippet.tsx'
import { KeyValue } from '../../components/text/key-value.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { type RowOf, useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const KEY = 'GET /operator/audit-log'
type Row = RowOf<typeof KEY>

export function Page() {
  const t = useMessages(messages)
  const list = useListState(['actor', 'action', 'account'])
  const pages = useAdminPages(KEY, { query: asQuery(KEY, list.filters) }, { keepPrevious: true })
  const open = pages.rows.find(({ id }) => id === list.openId)
  return (
    <ListPage
      title={t('title')}
      description={t('description')}
      filters={
        <>
          <TextFilter label={t('actor')} {...list.field('actor')} />
          <TextFilter label={t('action')} {...list.field('action')} />
          <TextFilter label={t('account')} {...list.field('account')} />
        </>
      }
      list={list}
      pages={pages}
      columns={useColumns()}
      rowId={(row) => row.id}
      empty={{ icon: 'book', title: t('emptyTitle'), text: t('emptyText') }}
    >
      <DetailDrawer isOpen={open !== undefined} title={open?.action ?? ''} onClose={list.close}>
        {open ? <Details row={open} /> : null}
      </DetailDrawer>
    </ListPage>
  )
}

function useColumns(): Column<Row>[] {
  const t = useMessages(messages)
  return [
    { key: 'at', header: t('at'), render: (row) => <TimeText time={row.at} />, isTime: true },
    { key: 'who', header: t('actedBy'), render: (row) => <Actor row={row} /> },
    { key: 'action', header: t('action'), render: (row) => row.action },
    {
      key: 'target',
      header: t('target'),
      render: (row) => (
        <Text size="sm" truncate maw={260} title={row.target}>
          {row.target}
        </Text>
      ),
      minor: true,
    },
    {
      key: 'outcome',
      header: t('outcome'),
      render: ({ details }) => (typeof details.outcome === 'string' ? details.outcome : ''),
    },
    { key: 'ip', header: t('ip'), render: (row) => row.ip ?? '–', minor: true },
  ]
}

/** A user, and the access token that acted for them. */
function Actor({ row }: { readonly row: Row }) {
  const t = useMessages(messages)
  return (
    <>
      {row.email ?? row.user_id ?? t('nobody')}
      {row.token ? (
        <Text size="xs" c="dimmed">
          {t('byToken', { token: nameToken(row.token) })}
        </Text>
      ) : null}
    </>
  )
}

function nameToken({ name, last4 }: NonNullable<Row['token']>): string {
  return `${name} (…${last4})`
}

function Details({ row }: { readonly row: Row }) {
  const t = useMessages(messages)
  return (
    <Stack gap="md">
      <KeyValue
        facts={[
          { label: t('at'), value: <TimeText time={row.at} form="full" /> },
          { label: t('actedBy'), value: row.email ?? row.user_id ?? t('nobody') },
          { label: t('token'), value: row.token ? nameToken(row.token) : undefined },
          { label: t('ip'), value: row.ip ?? undefined },
          { label: t('account'), value: row.account_id ?? undefined },
          { label: t('target'), value: row.target || undefined },
        ]}
      />
      <CodeSnippet code={JSON.stringify(row.details, null, 2)} />
    </Stack>
  )
}
