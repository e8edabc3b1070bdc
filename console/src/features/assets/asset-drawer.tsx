/** One asset, beside its original when it is a copy of one. */
import { Button, Group, Image, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { DetailDrawer } from '../../components/detail-drawer.tsx'
import { ButtonLink } from '../../components/links.tsx'
import { notifyDone } from '../../components/notify.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import { EraseSubtitles } from './erase-subtitles.tsx'
import { messages } from './messages.ts'
import type { Asset } from './page.tsx'

interface AssetDrawerProps {
  readonly asset: Asset | undefined
  readonly original: Asset | undefined
  readonly onClose: () => void
}

export function AssetDrawer({ asset, original, onClose }: AssetDrawerProps) {
  const t = useMessages(messages)
  const account = useAccount()
  const [isDeleting, setDeleting] = useState(false)
  const remove = useAdminChange('DELETE /accounts/:account_id/assets/:asset_id')
  return (
    <DetailDrawer isOpen={asset !== undefined} title={asset?.model ?? ''} onClose={onClose}>
      {asset ? (
        <Stack gap="md">
          <Media asset={asset} />
          {original ? (
            <>
              <Text size="sm" fw={500}>
                {t('original')}
              </Text>
              <Media asset={original} />
            </>
          ) : null}
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
