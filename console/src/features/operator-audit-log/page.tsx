/** The audit log, newest first. */
import { Table, Text } from '@mantine/core'
import type { RowFields } from '../../components/list/fields.tsx'
import { ListPage } from '../../components/list/list-page.tsx'
import { SideScroll } from '../../components/page/side-scroll.tsx'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { CodeSnippet } from '../../components/text/code-snippet.tsx'
import { nameAccount } from '../../components/text/name-account.ts'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import { useAct, useActor, useChanges, wasDone } from './sentence.ts'
import { type LogEntry, wordTarget } from './wording.ts'

const KEY = 'GET /operator/audit-log'

const FIELDS: RowFields<LogEntry, (typeof messages)['en']> = [
  { key: 'at', as: 'time' },
  { word: 'what', in: 'list', wide: true, show: (row) => <Sentence row={row} /> },
  { word: 'outcome', show: (row) => <Outcome row={row} /> },
  { word: 'actedBy', in: 'details', show: (row) => <Actor row={row} /> },
  { word: 'token', in: 'details', show: ({ token }) => token && nameToken(token) },
  { key: 'ip', minor: true },
  { word: 'account', in: 'details', show: showAccount },
  { word: 'target', in: 'details', show: (row) => wordTarget(row) || undefined },
  { key: 'action', in: 'details' },
]

export function Page() {
  const t = useMessages(messages)
  const list = useListState(['actor', 'action', 'account', 'target', 'from', 'to'])
  const pages = useAdminPages(KEY, { query: asQuery(KEY, list.filters) }, { keepPrevious: true })
  return (
    <ListPage
      messages={messages}
      fields={FIELDS}
      filters={[
        { name: 'actor', word: 'actor' },
        { name: 'action', word: 'action' },
        { name: 'account', word: 'account' },
        { name: 'target', word: 'target' },
        'period',
      ]}
      list={list}
      pages={pages}
      rowId={(row) => row.id}
      icon="book"
      drawer={{
        title: () => t('entry'),
        above: (row) => (
          <>
            <Text>
              <Sentence row={row} />
            </Text>
            <Changes row={row} />
          </>
        ),
        below: ({ details }) => <CodeSnippet code={JSON.stringify(details, null, 2)} />,
      }}
    />
  )
}

/** A user, the access token that acted for them, and what was done. */
function Sentence({ row }: { readonly row: LogEntry }) {
  const t = useMessages(messages)
  const actor = useActor()
  const act = useAct()
  return (
    <div style={{ overflowWrap: 'anywhere' }}>
      <b>{actor(row)}</b> {act(row)}
      {row.token ? (
        <Text size="xs" c="dimmed">
          {t('byToken', { token: nameToken(row.token) })}
        </Text>
      ) : null}
    </div>
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

function Actor({ row }: { readonly row: LogEntry }) {
  return useActor()(row)
}

function showAccount({ account_id: id, names }: LogEntry) {
  const name = id === null ? undefined : names[id]
  return id && name ? nameAccount({ id, name }) : id
}

function Changes({ row }: { readonly row: LogEntry }) {
  const t = useMessages(messages)
  const changes = useChanges()(row)
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
