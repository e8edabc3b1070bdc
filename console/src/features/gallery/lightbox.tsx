/** One image, large: its prompt, what it cost, and the ways to keep or to remove it. */
import { Button, Group, Image, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Icon } from '../../components/icon.tsx'
import { KeyValue } from '../../components/key-value.tsx'
import { ButtonLink, TextLink } from '../../components/links.tsx'
import { MoneyText } from '../../components/money-text.tsx'
import { notifyDone } from '../../components/notify.ts'
import { TimeText } from '../../components/time-text.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import type { Picture } from './page.tsx'

interface LightboxProps {
  readonly picture: Picture | undefined
  readonly onClose: () => void
}

export function Lightbox({ picture, onClose }: LightboxProps) {
  const t = useMessages(messages)
  return (
    <Dialog isOpen={picture !== undefined} title={t('title')} size={760} onClose={onClose}>
      {picture ? <Details picture={picture} onClose={onClose} /> : null}
    </Dialog>
  )
}

interface DetailsProps {
  readonly picture: Picture
  readonly onClose: () => void
}

function Details({ picture, onClose }: DetailsProps) {
  const t = useMessages(messages)
  const account = useAccount()
  const params = { account_id: account.id }
  const balance = useAdmin('GET /accounts/:account_id/balance', { params })
  const [isDeleting, setDeleting] = useState(false)
  const remove = useAdminChange('DELETE /accounts/:account_id/gallery/:asset_id')
  const { url, prompt } = picture
  return (
    <Stack gap="md">
      {url && picture.copy.state === 'stored' ? (
        <Image src={url} alt={prompt ?? t('noPrompt')} radius="sm" mah="60vh" fit="contain" />
      ) : null}
      <Facts picture={picture} currency={balance.data?.currency ?? 'USD'} />
      <Group justify="flex-end" gap="xs">
        <ButtonLink to="/usage" search={{ id: picture.request_id }} variant="subtle">
          {t('explain')}
        </ButtonLink>
        <Button
          variant="default"
          leftSection={<Icon name="trash" size={15} />}
          onClick={() => setDeleting(true)}
        >
          {t('delete')}
        </Button>
        {url ? (
          <Button
            component="a"
            href={url}
            download
            leftSection={<Icon name="download" size={15} />}
          >
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
          await remove.mutateAsync({ params: { ...params, asset_id: picture.id } })
          notifyDone(t('deleted'))
          onClose()
        }}
        onClose={() => setDeleting(false)}
      >
        <Text size="sm">{t('deleteText')}</Text>
      </ConfirmDialog>
    </Stack>
  )
}

interface FactsProps {
  readonly picture: Picture
  readonly currency: string
}

function Facts({ picture, currency }: FactsProps) {
  const t = useMessages(messages)
  const { prompt, charged, width, height } = picture
  return (
    <KeyValue
      facts={[
        { label: t('prompt'), value: prompt },
        { label: t('model'), value: picture.model },
        {
          label: t('cost'),
          value: charged === null ? undefined : <MoneyText amount={charged} currency={currency} />,
        },
        { label: t('size'), value: width && height ? `${width} × ${height}` : undefined },
        { label: t('created'), value: <TimeText time={picture.created_at} form="full" /> },
        {
          label: t('task'),
          value: picture.task_id ? (
            <TextLink to="/tasks" search={{ id: picture.task_id }}>
              {picture.task_id}
            </TextLink>
          ) : undefined,
        },
      ]}
    />
  )
}
