/** The running gateway processes, their database and their configuration. */
import { Alert, Box, Stack, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { PageHeader } from '../../components/page/page-header.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { SideScroll } from '../../components/page/side-scroll.tsx'
import { StatTile, StatTiles } from '../../components/page/stat-tile.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { formatBytes, formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages, useServerText } from '../../lib/i18n.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import { VARIABLES_IN_CHINESE } from './variables-in-chinese.ts'

const REFRESH_MS = 10_000
type System = AdminAnswer<'GET /operator/system'>

export function Page() {
  const t = useMessages(messages)
  const { data, error, refetch } = useAdmin(
    'GET /operator/system',
    {},
    { refetchEveryMs: REFRESH_MS },
  )
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} />
      {error ? <ErrorState error={error} onRetry={() => void refetch()} /> : null}
      {data ? (
        <Stack gap="lg">
          <Process system={data} />
          {data.files_shared ? null : (
            <Alert color="yellow" variant="light" title={t('filesApart')}>
              {t('filesApartHelp')}
            </Alert>
          )}
          <Gateways gateways={data.gateways} />
          <Database database={data.database} />
          <Configuration configuration={data.configuration} />
        </Stack>
      ) : null}
    </>
  )
}

function Process({ system }: { readonly system: System }) {
  const textOf = useServerText()
  const t = useMessages(messages)
  const { language } = useLanguage()
  const state = system.ready ? (
    <StatusBadge tone="good" label={t('ready')} />
  ) : (
    <StatusBadge tone="bad" label={t('notReady')} />
  )
  return (
    <StatTiles>
      <StatTile
        label={t('state')}
        value={state}
        note={system.not_ready_reason && textOf(system.not_ready_reason)}
      />
      <StatTile
        label={t('version')}
        value={system.version}
        note={`${t('node')} ${system.node} · ${t('site')} ${system.site}`}
      />
      <StatTile
        label={t('started')}
        value={<TimeText time={system.started_at} form="relative" />}
        note={system.public_url}
      />
      <StatTile label={t('memory')} value={formatBytes(system.memory_bytes, language)} />
      <StatTile label={t('inFlight')} value={formatNumber(system.calls_in_flight, language)} />
    </StatTiles>
  )
}

interface FactsTableProps {
  readonly label: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly ReactNode[])[]
  /** Columns after the first are numbers. */
  readonly numeric?: boolean
}

function FactsTable({ label, head, rows, numeric = false }: FactsTableProps) {
  const align = (column: number) => (numeric && column > 0 ? 'right' : 'left')
  return (
    <SideScroll label={label}>
      <Table aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {head.map((title, column) => (
              <Table.Th key={title} ta={align(column)}>
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((cells, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows have no other name
            <Table.Tr key={row}>
              {cells.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its column
                <Table.Td key={column} valign="top" ta={align(column)}>
                  {cell}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </SideScroll>
  )
}

function Gateways({ gateways }: { readonly gateways: System['gateways'] }) {
  const t = useMessages(messages)
  return (
    <Panel title={t('gateways')} flush>
      <FactsTable
        label={t('gateways')}
        head={[t('address'), t('state'), t('started')]}
        rows={gateways.map((one) => [
          one.this ? `${one.address} (${t('thisOne')})` : one.address,
          <StatusBadge
            key="state"
            tone={one.alive ? 'good' : 'quiet'}
            label={one.alive ? t('alive') : t('ended')}
          />,
          <TimeText key="started" time={one.started_at} form="full" />,
        ])}
      />
    </Panel>
  )
}

function Database({ database }: { readonly database: System['database'] }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { version, bytes, connections, tables, migrations } = database
  const facts = [
    `PostgreSQL ${version}`,
    formatBytes(bytes, language),
    `${t('connections')}: ${connections}`,
    `${t('migrations')}: ${migrations.length}`,
  ]
  const aside = (
    <Text size="sm" c="dimmed">
      {facts.join(' · ')}
    </Text>
  )
  return (
    <Panel title={t('database')} aside={aside} flush>
      <FactsTable
        label={t('database')}
        head={[t('table'), t('rows'), t('size')]}
        numeric
        rows={tables.map((one) => [
          one.name,
          formatNumber(one.rows, language),
          formatBytes(one.bytes, language),
        ])}
      />
    </Panel>
  )
}

function Configuration({ configuration }: { readonly configuration: System['configuration'] }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  return (
    <Panel title={t('configuration')} flush>
      <FactsTable
        label={t('configuration')}
        head={[t('variable'), t('value')]}
        rows={configuration.map(({ name, value, description }) => [
          <Box key="name">
            <Text size="sm" ff="monospace">
              {name}
            </Text>
            <Text size="xs" c="dimmed" maw={520}>
              {language === 'zh' ? (VARIABLES_IN_CHINESE[name] ?? description) : description}
            </Text>
          </Box>,
          <Text key="value" size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            {value}
          </Text>,
        ])}
      />
    </Panel>
  )
}
