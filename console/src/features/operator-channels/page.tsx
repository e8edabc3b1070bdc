/** The channels, configured accounts at upstreams, with their health. */
import { Button, Switch } from '@mantine/core'
import { SimulatorsNotice } from '../../components/form/simulators-notice.tsx'
import { Icon } from '../../components/icon.tsx'
import { DataTable } from '../../components/list/data-table.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { EmptyState } from '../../components/list/empty-state.tsx'
import { useColumns } from '../../components/list/fields.tsx'
import { Filters } from '../../components/list/filters.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useUrlState } from '../../lib/url-state.ts'
import { asPages, useAdmin } from '../../lib/use-admin.ts'
import { AddChannel } from './add-channel.tsx'
import { ChannelDetails } from './channel-details.tsx'
import type { UpstreamListing } from './channel-form.tsx'
import { CHANNEL_FIELDS } from './fields.tsx'
import { messages } from './messages.ts'

const REFRESH_MS = 5_000

export function Page() {
  const t = useMessages(messages)
  const url = useUrlState(['id', 'retired', 'add'])
  const { id, retired, add: step } = url.values
  const upstreams = useAdmin('GET /operator/upstreams', {})
  const channels = useAdmin(
    'GET /operator/channels',
    { query: { retired: retired === 'true' ? 'true' : 'false' } },
    { refetchEveryMs: REFRESH_MS, keepPrevious: true },
  )
  const add = (
    <Button
      leftSection={<Icon name="plus" size={16} />}
      onClick={() => url.push({ add: 'choose' })}
    >
      {t('newChannel')}
    </Button>
  )
  const known = upstreams.data?.data ?? []
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} actions={add} />
      <SimulatorsNotice />
      {upstreams.error ? (
        <ErrorState error={upstreams.error} onRetry={() => void upstreams.refetch()} />
      ) : null}
      <Filters>
        <Switch
          size="xs"
          label={t('showRetired')}
          checked={retired === 'true'}
          onChange={({ currentTarget }) =>
            url.set({ retired: currentTarget.checked ? 'true' : '' })
          }
        />
      </Filters>
      <DataTable
        label={t('title')}
        pages={asPages(channels)}
        columns={useColumns(messages, CHANNEL_FIELDS)}
        rowId={(row) => row.id}
        onOpen={(row) => url.push({ id: row.id })}
        openId={id}
        empty={
          <EmptyState icon="plug" title={t('emptyTitle')} action={add}>
            {t('emptyText')}
          </EmptyState>
        }
      />
      <OpenChannel id={id} upstreams={known} onClose={() => url.push({ id: '' })} />
      <DetailDrawer
        isOpen={step !== ''}
        title={t('newChannel')}
        onClose={() => url.push({ add: '' })}
      >
        {known.length > 0 ? (
          <AddChannel
            key={step}
            upstreams={known}
            step={step}
            onStep={(next) => url.set({ add: next })}
            onOpen={(channel) => url.push({ add: '', id: channel })}
          />
        ) : null}
      </DetailDrawer>
    </>
  )
}

interface OpenChannelProps {
  readonly id: string
  readonly upstreams: readonly UpstreamListing[]
  readonly onClose: () => void
}

function OpenChannel({ id, upstreams, onClose }: OpenChannelProps) {
  const channel = useAdmin(
    'GET /operator/channels/:channel_id',
    { params: { channel_id: id } },
    { enabled: id !== '' },
  )
  const shown = id === '' ? undefined : channel.data
  return (
    <DetailDrawer isOpen={id !== ''} title={id} onClose={onClose}>
      {shown && upstreams.length > 0 ? (
        <ChannelDetails key={shown.id} channel={shown} upstreams={upstreams} onClose={onClose} />
      ) : null}
      {id !== '' && channel.error ? (
        <ErrorState error={channel.error} onRetry={() => void channel.refetch()} />
      ) : null}
    </DetailDrawer>
  )
}
