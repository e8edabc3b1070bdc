/** One image at full size with its prompt, cost, download and deletion. */
import { ActionIcon, Button, Center, Group, Image, Stack, Text } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { Dialog } from '../../components/form/dialog.tsx'
import { Icon, type IconName } from '../../components/icon.tsx'
import { ButtonLink, TextLink } from '../../components/links.tsx'
import { FieldFacts, type RowFields } from '../../components/list/fields.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import type { Picture } from './picture.ts'

const FIELDS: RowFields<Picture, (typeof messages)['en']> = [
  { key: 'prompt' },
  { key: 'model' },
  { key: 'charged', word: 'cost', as: 'money' },
  {
    word: 'size',
    show: ({ width, height }) => (width && height ? `${width} × ${height}` : undefined),
  },
  { key: 'created_at', word: 'created', as: 'time' },
  { word: 'task', show: ({ task_id: id }) => id && <TaskLink id={id} /> },
]

interface LightboxProps {
  readonly pictures: readonly Picture[]
  /** '' while none is open. */
  readonly id: string
  /** Shows another image. */
  readonly onTurn: (id: string) => void
  readonly onClose: () => void
}

/** Arrow keys and the buttons beside the image show the next or previous one. */
export function Lightbox({ pictures, id, onTurn, onClose }: LightboxProps) {
  const t = useMessages(messages)
  const at = pictures.findIndex((one) => one.id === id)
  const picture = pictures[at]
  const turn = (step: number) => {
    const next = at === -1 ? undefined : pictures[at + step]
    if (next) onTurn(next.id)
  }
  useHotkeys([
    ['ArrowLeft', () => turn(-1)],
    ['ArrowRight', () => turn(1)],
  ])
  const place = t('place', { place: at + 1, count: pictures.length })
  return (
    <Dialog
      isOpen={picture !== undefined}
      title={picture ? `${t('title')} · ${place}` : t('title')}
      size={860}
      onClose={onClose}
    >
      {picture ? (
        <Stack gap="md">
          <Group wrap="nowrap" gap="xs">
            <Turn label={t('before')} icon="left" isOff={at === 0} onClick={() => turn(-1)} />
            <Large picture={picture} />
            <Turn
              label={t('after')}
              icon="right"
              isOff={at === pictures.length - 1}
              onClick={() => turn(1)}
            />
          </Group>
          <Details key={picture.id} picture={picture} onClose={onClose} />
        </Stack>
      ) : null}
    </Dialog>
  )
}

function Large({ picture: { url, prompt, copy } }: { readonly picture: Picture }) {
  const t = useMessages(messages)
  return (
    <Center flex={1} mih={200} miw={0}>
      {url && copy.state === 'stored' ? (
        <Image src={url} alt={prompt ?? t('noPrompt')} radius="sm" mah="60vh" fit="contain" />
      ) : (
        <Text size="sm" c="dimmed">
          {t('copying')}
        </Text>
      )}
    </Center>
  )
}

interface TurnProps {
  readonly label: string
  readonly icon: IconName
  readonly isOff: boolean
  readonly onClick: () => void
}

function Turn({ label, icon, isOff, onClick }: TurnProps) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={label}
      disabled={isOff}
      onClick={onClick}
    >
      <Icon name={icon} />
    </ActionIcon>
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
  const { url } = picture
  return (
    <Stack gap="md">
      {balance.data ? (
        <FieldFacts
          messages={messages}
          fields={FIELDS}
          row={picture}
          currency={balance.data.currency}
        />
      ) : null}
      {balance.error ? (
        <ErrorState error={balance.error} onRetry={() => void balance.refetch()} />
      ) : null}
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

function TaskLink({ id }: { readonly id: string }) {
  return (
    <TextLink to="/tasks" search={{ id }}>
      {id}
    </TextLink>
  )
}
