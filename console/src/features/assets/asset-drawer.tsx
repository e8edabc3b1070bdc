/** One asset, beside its original when it is a copy of one. */
import { Button, Group, Image, SimpleGrid, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { DetailDrawer } from '../../components/detail-drawer.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { ButtonLink } from '../../components/links.tsx'
import { notifyDone } from '../../components/notify.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { EraseSubtitles } from './erase-subtitles.tsx'
import { messages } from './messages.ts'
import type { Asset } from './page.tsx'

interface AssetDrawerProps {
  /** '' while none is open. */
  readonly id: string
  readonly onClose: () => void
}

/** A copy that is being made tells nobody when it is there. */
const COPYING = { everyMs: 3_000, holds: ({ copy }: Asset) => copy.state === 'waiting' }

/** Wherever it stands in the list, or whatever the list is narrowed to. */
function useAsset(id: string) {
  const account = useAccount()
  return useAdmin(
    'GET /accounts/:account_id/assets/:asset_id',
    { params: { account_id: account.id, asset_id: id } },
    { enabled: id !== '', refetchWhile: COPYING },
  )
}

export function AssetDrawer({ id, onClose }: AssetDrawerProps) {
  const t = useMessages(messages)
  const account = useAccount()
  const { data: asset, error } = useAsset(id)
  const { data: original } = useAsset(asset?.original_id ?? '')
  const [isDeleting, setDeleting] = useState(false)
  const remove = useAdminChange('DELETE /accounts/:account_id/assets/:asset_id')
  return (
    <DetailDrawer isOpen={id !== ''} title={asset?.model ?? ''} onClose={onClose}>
      {error && !asset ? <ErrorState error={error} /> : null}
      {asset ? (
        <Stack gap="md">
          {original ? (
            <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
              <Side name={t('original')} asset={original} />
              <Side name={t('erased')} asset={asset} />
            </SimpleGrid>
          ) : (
            <Media asset={asset} />
          )}
          <Group gap="xs">
            <ButtonLink to="/tasks" search={{ id: asset.task_id }} variant="default">
              {t('task')}
            </ButtonLink>
            {canErase(asset) ? <EraseSubtitles taskId={asset.task_id} /> : null}
            <Button variant="default" onClick={() => setDeleting(true)}>
              {t('delete')}
            </Button>
            {asset.url ? (
              <Button component="a" href={asset.url} download>
                {t('download')}
              </Button>
            ) : null}
          </Group>
          <ConfirmDialog
            isOpen={isDeleting}
            title={t('deleteTitle')}
            act={t('delete')}
            isDangerous
            onConfirm={async () => {
              const params = { account_id: account.id, asset_id: asset.id }
              await remove.mutateAsync({ params })
              notifyDone(t('deleted'))
              onClose()
            }}
            onClose={() => setDeleting(false)}
          >
            {t('deleteText')}
          </ConfirmDialog>
        </Stack>
      ) : null}
    </DetailDrawer>
  )
}

function canErase({ erase_until: until }: Asset): boolean {
  return until !== undefined && Date.parse(until) > Date.now()
}

function Side({ name, asset }: { readonly name: string; readonly asset: Asset }) {
  return (
    <div>
      <Text size="sm" fw={500} mb={4}>
        {name}
      </Text>
      <Media asset={asset} />
    </div>
  )
}

function Media({ asset }: { readonly asset: Asset }) {
  const t = useMessages(messages)
  if (!asset.url || asset.copy.state !== 'stored') {
    return (
      <Text size="sm" c="dimmed">
        {t('copying')}
      </Text>
    )
  }
  if (asset.kind === 'last_frame')
    return <Image src={asset.url} alt={t('last_frame')} radius="sm" />
  return (
    // biome-ignore lint/a11y/useMediaCaption: what a model made has no captions
    <video src={asset.url} controls preload="metadata" style={{ width: '100%', borderRadius: 6 }} />
  )
}
