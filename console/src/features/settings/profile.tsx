/** The user's name, language and password. */
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { CheckedField } from '../../components/form/checked-form.tsx'
import { Dialog } from '../../components/form/dialog.tsx'
import { SecretInput } from '../../components/form/secret-input.tsx'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useSession } from '../../lib/session.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import { SettingRow } from './row.tsx'
import { SmallButton } from './small-button.tsx'

export function Profile() {
  const t = useMessages(messages)
  const { user } = useSession().session
  const [isOpen, setOpen] = useState(false)
  const change = useAdminChange('PATCH /profile', { refreshes: ['GET /session'] })
  const save = async ({ name = '' }: Readonly<Record<string, string>>) => {
    await change.mutateAsync({ body: { name } })
    notifyDone(t('saved'))
  }
  return (
    <Panel title={t('you')}>
      <SubmitForm act={t('save')} onSend={save} isInline>
        <TextInput name="name" label={t('name')} defaultValue={user.name} required />
        <SettingRow title={t('email')} text={user.email} />
        <SettingRow title={t('password')}>
          <SmallButton onClick={() => setOpen(true)}>{t('changePassword')}</SmallButton>
        </SettingRow>
      </SubmitForm>
      <ChangePassword isOpen={isOpen} email={user.email} onClose={() => setOpen(false)} />
    </Panel>
  )
}

interface ChangePasswordProps {
  readonly isOpen: boolean
  readonly email: string
  readonly onClose: () => void
}

function ChangePassword({ isOpen, email, onClose }: ChangePasswordProps) {
  const t = useMessages(messages)
  const change = useAdminChange('POST /profile/password')
  const send = async ({ current = '', fresh = '' }: Readonly<Record<string, string>>) => {
    await change.mutateAsync({ body: { current_password: current, new_password: fresh } })
    notifyDone(t('saved'))
    onClose()
  }
  return (
    <Dialog isOpen={isOpen} title={t('changePassword')} onClose={onClose}>
      <SubmitForm act={t('save')} onSend={send} onCancel={onClose}>
        <input type="text" autoComplete="username" value={email} readOnly hidden />
        <SecretInput
          name="current"
          label={t('currentPassword')}
          autoComplete="current-password"
          required
          withAsterisk={false}
          data-autofocus
        />
        <CheckedField param="new_password">
          {(error) => (
            <SecretInput
              name="fresh"
              label={t('newPassword')}
              description={t('newPasswordHint')}
              error={error}
              autoComplete="new-password"
              minLength={12}
              required
              withAsterisk={false}
            />
          )}
        </CheckedField>
      </SubmitForm>
    </Dialog>
  )
}
