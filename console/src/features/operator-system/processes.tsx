/** This process, and the gateways beside it. */
import { Alert, Stack } from '@mantine/core'
import { RowTable } from '../../components/list/row-table.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { StatTile, StatTiles } from '../../components/page/stat-tile.tsx'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { formatBytes, formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages, useServerText } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'
import type { System } from './system.ts'

export function Processes({ system }: { readonly system: System }) {
  const t = useMessages(messages)
  return (
    <Stack gap="lg">
      <Process system={system} />
      {system.files_shared ? null : (
        <Alert color="yellow" variant="light" title={t('filesApart')}>
          {t('filesApartHelp')}
        </Alert>
      )}
      <Gateways gateways={system.gateways} />
    </Stack>
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

function Gateways({ gateways }: { readonly gateways: System['gateways'] }) {
  const t = useMessages(messages)
  return (
    <Panel title={t('gateways')} flush>
      <RowTable
        label={t('gateways')}
        rows={gateways}
        rowId={({ address, started_at: started }) => `${address} ${started}`}
        columns={[
          {
            key: 'address',
            header: t('address'),
            render: (one) => (one.this ? `${one.address} (${t('thisOne')})` : one.address),
          },
          {
            key: 'state',
            header: t('state'),
            render: ({ alive }) => (
              <StatusBadge tone={alive ? 'good' : 'quiet'} label={t(alive ? 'alive' : 'ended')} />
            ),
          },
          {
            key: 'started',
            header: t('started'),
            render: (one) => <TimeText time={one.started_at} form="full" />,
          },
        ]}
      />
    </Panel>
  )
}
