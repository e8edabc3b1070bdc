/** One asset with its facts, its actions and its copy. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { ConfirmButton } from '../../components/form/confirm-dialog.tsx'
import { ButtonLink, TextLink } from '../../components/links.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { CopyText } from '../../components/text/copy-button.tsx'
import { KeyValue } from '../../components/text/key-value.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { formatBytes, formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { AssetMedia } from './media.tsx'
import { messages } from './messages.ts'
import type { Asset } from './pair-assets.ts'

interface AssetDrawerProps {
  /** '' while none is open. */
  readonly id: string
  /** All loaded assets, which include the copies of this one. */
  readonly all: readonly Asset[]
  readonly onClose: () => void
}

/** Interval while a copy is in progress: no event signals its end. */
const COPYING = { everyMs: 3_000, holds: ({ copy }: Asset) => copy.state === 'waiting' }

/** Loads the asset by its id, even if the list does not show it. */
function useAsset(id: string) {
  const account = useAccount()
  return useAdmin(
    'GET /accounts/:account_id/assets/:asset_id',
    { params: { account_id: account.id, asset_id: id } },
    { enabled: id !== '', refetchWhile: COPYING },
  )
}

export function AssetDrawer({ id, all, onClose }: AssetDrawerProps) {
  const { data: asset, error, refetch } = useAsset(id)
  const { data: original } = useAsset(asset?.original_id ?? '')
  const others = all.filter(
    (one) => one.id !== id && (one.original_id === id || one.task_id === asset?.task_id),
  )
  const shown = [asset, original, ...others].filter((one) => one !== undefined)
  return (
    <DetailDrawer isOpen={id !== ''} title={asset?.model ?? ''} onClose={onClose}>
      {error && !asset ? <ErrorState error={error} onRetry={() => void refetch()} /> : null}
      <Stack gap="xl">
        {shown.map((one) => (
          <AssetDetails key={one.id} asset={one} onDeleted={() => one.id === id && onClose()} />
        ))}
      </Stack>
    </DetailDrawer>
  )
}

interface OneProps {
  readonly asset: Asset
  readonly onDeleted: () => void
}

function AssetDetails({ asset, onDeleted }: OneProps) {
  const t = useMessages(messages)
  return (
    <Stack gap="sm" component="section">
      <Text size="sm" fw={500}>
        {t(asset.kind === 'video' || asset.kind === 'image' ? 'original' : asset.kind)}
      </Text>
      <AssetMedia asset={asset} />
      <AssetActions asset={asset} onDeleted={onDeleted} />
      <Facts asset={asset} />
    </Stack>
  )
}

function AssetActions({ asset, onDeleted }: OneProps) {
  const t = useMessages(messages)
  const account = useAccount()
  const remove = useAdminChange('DELETE /accounts/:account_id/assets/:asset_id')
  return (
    <Group gap="xs">
      {asset.url ? (
        <Button component="a" href={asset.url} download size="compact-sm">
          {t('download')}
        </Button>
      ) : null}
      <ButtonLink to="/tasks" search={{ id: asset.task_id }} variant="default" size="compact-sm">
        {t('task')}
      </ButtonLink>
      <ConfirmButton
        size="compact-sm"
        title={t('deleteTitle')}
        act={t('delete')}
        isDangerous
        onConfirm={async () => {
          await remove.mutateAsync({ params: { account_id: account.id, asset_id: asset.id } })
          notifyDone(t('deleted'))
          onDeleted()
        }}
      >
        {t('deleteText')}
      </ConfirmButton>
    </Group>
  )
}

function Facts({ asset }: { readonly asset: Asset }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const account = useAccount()
  const { data } = useAdmin('GET /accounts/:account_id/balance', {
    params: { account_id: account.id },
  })
  const { charged, bytes, width, height, duration } = asset
  const length = duration && t('seconds', { count: formatNumber(duration, language, 1) })
  const size = [
    width && height ? `${width} × ${height}` : '',
    bytes === undefined ? '' : formatBytes(bytes, language),
  ]
  return (
    <KeyValue
      facts={[
        {
          label: t('cost'),
          value:
            charged === null || !data ? undefined : (
              <TextLink to="/usage" search={{ id: asset.request_id }} size="sm">
                <MoneyText amount={charged} currency={data.currency} places="exact" />
              </TextLink>
            ),
        },
        { label: t('length'), value: length || undefined },
        { label: t('size'), value: size.filter((part) => part !== '').join(' · ') || undefined },
        { label: t('created'), value: <TimeText time={asset.created_at} form="full" /> },
        { label: t('task'), value: <CopyText value={asset.task_id} /> },
      ]}
    />
  )
}
