/** The audit log, newest first. */
import { Stack, Table, Text } from '@mantine/core'
import type { Column } from '../../components/list/data-table.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { TextFilter } from '../../components/list/filters.tsx'
import { ListPage } from '../../components/list/list-page.tsx'
import { PeriodPicker } from '../../components/list/period-picker.tsx'
import { SideScroll } from '../../components/page/side-scroll.tsx'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { CodeSnippet } from '../../components/text/code-snippet.tsx'
import { KeyValue } from '../../components/text/key-value.tsx'
import { nameAccount } from '../../components/text/name-account.ts'
import { TimeText } from '../../components/text/time-text.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import { type ShownChange, useAct, useActor, useChanges, wasDone } from './sentence.ts'
import { type LogEntry, wordTarget } from './wording.ts'

const KEY = 'GET /operator/audit-log'

export function Page() {
  const t = useMessages(messages)
  const list = useListState(['actor', 'action', 'account', 'target', 'from', 'to'])
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
          <TextFilter label={t('target')} {...list.field('target')} />
          <PeriodPicker value={list.filters} onChange={list.setFilters} />
        </>
      }
      list={list}
      pages={pages}
      columns={useColumns()}
      rowId={(row) => row.id}
      empty={{ icon: 'book', title: t('emptyTitle'), text: t('emptyText') }}
    >
      <DetailDrawer isOpen={open !== undefined} title={t('entry')} onClose={list.close}>
        {open ? <Details row={open} /> : null}
      </DetailDrawer>
    </ListPage>
  )
}

function useColumns(): Column<LogEntry>[] {
  const t = useMessages(messages)
  return [
    { key: 'at', header: t('at'), render: (row) => <TimeText time={row.at} />, isTime: true },
    { key: 'act', header: t('what'), render: (row) => <Sentence row={row} />, wide: true },
    { key: 'outcome', header: t('outcome'), render: (row) => <Outcome row={row} /> },
    { key: 'ip', header: t('ip'), render: (row) => row.ip ?? '–', minor: true },
  ]
}

/** A user, the access token that acted for them, and what was done. */
function Sentence({ row }: { readonly row: LogEntry }) {
  const t = useMessages(messages)
  const actor = useActor()
  const act = useAct()
  return (
    <>
      <b>{actor(row)}</b> {act(row)}
      {row.token ? (
        <Text size="xs" c="dimmed">
          {t('byToken', { token: nameToken(row.token) })}
        </Text>
      ) : null}
    </>
  )
}

function Outcome({ row }: { readonly row: LogEntry }) {
  const t = useMessages(messages)
  const { outcome } = row.details
  if (wasDone(row)) return <StatusBadge tone="good" label={t('done')} />
  return <StatusBadge tone="bad" label={t('refused', { why: String(outcome) })} />
}

function nameToken({ name, last4 }: NonNullable<LogEntry['token']>): string {
  return `${name} (…${last4})`
}

function Details({ row }: { readonly row: LogEntry }) {
  const t = useMessages(messages)
  const actor = useActor()
  const { account_id: id } = row
  const name = id === null ? undefined : row.names[id]
  const account = id && name ? nameAccount({ id, name }) : (id ?? undefined)
  return (
    <Stack gap="md">
      <Text>
        <Sentence row={row} />
      </Text>
      <Changes changes={useChanges()(row)} />
      <KeyValue
        facts={[
          { label: t('at'), value: <TimeText time={row.at} form="full" /> },
          { label: t('outcome'), value: <Outcome row={row} /> },
          { label: t('actedBy'), value: actor(row) },
          { label: t('token'), value: row.token ? nameToken(row.token) : undefined },
          { label: t('ip'), value: row.ip ?? undefined },
          { label: t('account'), value: account },
          { label: t('target'), value: wordTarget(row) || undefined },
          { label: t('action'), value: row.action },
        ]}
      />
      <CodeSnippet code={JSON.stringify(row.details, null, 2)} />
    </Stack>
  )
}

function Changes({ changes }: { readonly changes: readonly ShownChange[] }) {
  const t = useMessages(messages)
  if (changes.length === 0) return null
  return (
    <SideScroll label={t('changes')} minWidth={320}>
      <Table aria-label={t('changes')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('member')}</Table.Th>
            <Table.Th>{t('before')}</Table.Th>
            <Table.Th>{t('after')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changes.map(({ path, from, to }) => (
            <Table.Tr key={path}>
              <Table.Td>{path}</Table.Td>
              <Table.Td>{from || '–'}</Table.Td>
              <Table.Td>{to || '–'}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </SideScroll>
  )
}
