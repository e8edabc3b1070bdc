/** Passkeys: fingerprint, face or security key in place of a password. */
import { Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { Dialog } from '../../components/form/dialog.tsx'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useSession } from '../../lib/session.tsx'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { createPasskey } from './create-passkey.ts'
import { messages } from './messages.ts'
import { SettingRow } from './row.tsx'
import { SmallButton } from './small-button.tsx'

interface PasskeysProps {
  /** The first second factor comes with recovery codes. */
  readonly onCodes: (codes: readonly string[]) => void
}

export function Passkeys({ onCodes }: PasskeysProps) {
  const t = useMessages(messages)
  const { passkeys_possible: isPossible } = useSession().session
  const { data, error, isPending, refetch } = useAdmin('GET /profile/passkeys', {})
  const [isAdding, setAdding] = useState(false)
  const [removed, setRemoved] = useState<{ readonly id: string; readonly name: string }>()
  const remove = useAdminChange('DELETE /profile/passkeys/:passkey_id')
  const passkeys = data?.data ?? []
  return (
    <div aria-busy={isPending}>
      <SettingRow
        title={t('passkeys')}
        text={
          isPossible
            ? data && passkeys.length === 0
              ? t('noPasskeys')
              : ''
            : t('passkeysImpossible')
        }
      >
        {isPossible ? (
          <SmallButton onClick={() => setAdding(true)} aria-label={t('addPasskey')}>
            {t('add')}
          </SmallButton>
        ) : null}
      </SettingRow>
      {error ? <ErrorState error={error} onRetry={() => void refetch()} /> : null}
      {passkeys.map(({ id, name, used_at }) => (
        <SettingRow
          key={id}
          title={name}
          text={
            <Text component="span" inherit>
              {t('passkeyUsed')}: <TimeText time={used_at} form="relative" absent={t('never')} />
            </Text>
          }
        >
          <SmallButton onClick={() => setRemoved({ id, name })}>{t('remove')}</SmallButton>
        </SettingRow>
      ))}
      <AddPasskey isOpen={isAdding} onClose={() => setAdding(false)} onCodes={onCodes} />
      <ConfirmDialog
        isOpen={removed !== undefined}
        title={t('removePasskey', { name: removed?.name ?? '' })}
        act={t('remove')}
        isDangerous
        onConfirm={() => remove.mutateAsync({ params: { passkey_id: removed?.id ?? '' } })}
        onClose={() => setRemoved(undefined)}
      >
        {t('removePasskeyText')}
      </ConfirmDialog>
    </div>
  )
}

interface AddPasskeyProps extends PasskeysProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

function AddPasskey({ isOpen, onClose, onCodes }: AddPasskeyProps) {
  const t = useMessages(messages)
  const add = useAdminChange('POST /profile/passkeys')
  const send = async ({ name = '' }: Readonly<Record<string, string>>) => {
    const credential = await createPasskey()
    const { recovery_codes: codes } = await add.mutateAsync({ body: { name, credential } })
    onClose()
    if (codes) onCodes(codes)
  }
  return (
    <Dialog isOpen={isOpen} title={t('addPasskey')} onClose={onClose}>
      <SubmitForm act={t('add')} onSend={send} onCancel={onClose}>
        <TextInput
          name="name"
          label={t('passkeyName')}
          description={t('passkeyNameHint')}
          maxLength={100}
          required
          withAsterisk={false}
          data-autofocus
        />
      </SubmitForm>
    </Dialog>
  )
}
