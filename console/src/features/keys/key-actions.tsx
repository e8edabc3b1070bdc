/** Actions of an owner on a key, and of a developer on their own; everyone can see its calls. */
import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { Icon } from '../../components/icon.tsx'
import { ButtonLink } from '../../components/links.tsx'
import { notifyDone, notifyFailed } from '../../components/state/notify.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount, useSession } from '../../lib/session.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import type { ApiKey } from './api-key.ts'
import { EditKey } from './edit-key.tsx'
import { messages } from './messages.ts'
import { RotateKey } from './rotate-key.tsx'

interface KeyActionsProps {
  readonly apiKey: ApiKey
  readonly currency: string
}

type Open = 'edit' | 'rotate' | 'disable' | undefined

export function KeyActions({ apiKey, currency }: KeyActionsProps) {
  const t = useMessages(messages)
  const account = useAccount()
  const { user } = useSession().session
  const isOwn = account.mayCall && apiKey.member?.user_id === user.id
  const [open, setOpen] = useState<Open>()
  const { disable, enable, isEnabling } = useSwitch(apiKey)
  const close = () => setOpen(undefined)
  const name = apiKey.name || apiKey.display
  return (
    <Group gap="xs" mb="md">
      {account.isOwner || isOwn ? (
        <>
          <ActButton icon="edit" label={t('edit')} onClick={() => setOpen('edit')} />
          <ActButton icon="refresh" label={t('rotate')} onClick={() => setOpen('rotate')} />
          {apiKey.state === 'disabled' ? null : (
            <ActButton icon="pause" label={t('disable')} onClick={() => setOpen('disable')} />
          )}
          {apiKey.state === 'disabled' && account.isOwner ? (
            <ActButton icon="play" label={t('enable')} isBusy={isEnabling} onClick={enable} />
          ) : null}
        </>
      ) : null}
      <ButtonLink to="/usage" search={{ key: apiKey.id }} variant="subtle" size="compact-sm">
        {t('showUsage')}
      </ButtonLink>
      <ButtonLink to="/budgets" search={{ key: apiKey.id }} variant="subtle" size="compact-sm">
        {t('showBudgets')}
      </ButtonLink>
      <EditKey isOpen={open === 'edit'} apiKey={apiKey} currency={currency} onClose={close} />
      <RotateKey isOpen={open === 'rotate'} apiKey={apiKey} onClose={close} />
      <ConfirmDialog
        isOpen={open === 'disable'}
        title={t('disableTitle', { name })}
        act={t('disable')}
        isDangerous
        onConfirm={disable}
        onClose={close}
      >
        {t('disableText')}
      </ConfirmDialog>
    </Group>
  )
}

function useSwitch({ id }: ApiKey) {
  const t = useMessages(messages)
  const account = useAccount()
  const params = { account_id: account.id, key_id: id }
  const toDisable = useAdminChange('POST /accounts/:account_id/keys/:key_id/disable')
  const toEnable = useAdminChange('POST /accounts/:account_id/keys/:key_id/enable')
  return {
    async disable() {
      await toDisable.mutateAsync({ params })
      notifyDone(t('nowDisabled'))
    },
    isEnabling: toEnable.isPending,
    enable() {
      toEnable
        .mutateAsync({ params })
        .then(() => notifyDone(t('nowEnabled')))
        .catch(notifyFailed)
    },
  }
}

interface ActButtonProps {
  readonly icon: 'edit' | 'refresh' | 'play' | 'pause'
  readonly label: string
  readonly isBusy?: boolean
  readonly onClick: () => void
}

function ActButton({ icon, label, isBusy = false, onClick }: ActButtonProps) {
  return (
    <Button
      variant="default"
      size="compact-sm"
      leftSection={<Icon name={icon} size={14} />}
      loading={isBusy}
      onClick={onClick}
    >
      {label}
    </Button>
  )
}
