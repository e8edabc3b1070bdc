/** Dialog that creates an invitation link, which is mailed where mail is set. */
import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { CheckedField } from '../../../components/form/checked-form.tsx'
import { Dialog } from '../../../components/form/dialog.tsx'
import { SubmitForm } from '../../../components/form/submit-form.tsx'
import { CodeSnippet } from '../../../components/text/code-snippet.tsx'
import { formatTime } from '../../../lib/format.ts'
import { useLanguage, useMessages } from '../../../lib/i18n.tsx'
import { ASSIGNABLE_ROLES, type Role } from '../../../lib/session.tsx'
import { useAdminChange } from '../../../lib/use-admin.ts'
import { messages } from '../messages.ts'

interface InviteMemberProps {
  readonly isOpen: boolean
  readonly accountId: string
  readonly onClose: () => void
}

export function InviteMember({ isOpen, accountId, onClose }: InviteMemberProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const [role, setRole] = useState<Role>('developer')
  const invite = useAdminChange('POST /accounts/:account_id/invitations')
  const invitation = invite.data
  const close = () => {
    onClose()
    invite.reset()
  }
  const send = async ({ email = '' }: Readonly<Record<string, string>>) => {
    await invite.mutateAsync({ params: { account_id: accountId }, body: { email, role } })
  }
  return (
    <Dialog
      isOpen={isOpen}
      title={t('invite')}
      onClose={close}
      isSticky={invitation !== undefined}
      isBusy={invite.isPending}
    >
      {invitation ? (
        <Stack gap="sm">
          <Text size="sm">
            {t(invitation.mailed ? 'inviteMailed' : 'inviteLink', {
              until: formatTime(invitation.expires_at, language),
            })}
          </Text>
          <CodeSnippet code={invitation.link} />
          <Group justify="flex-end">
            <Button onClick={close}>{t('close')}</Button>
          </Group>
        </Stack>
      ) : (
        <SubmitForm act={t('inviteAct')} onSend={send} onCancel={close}>
          <CheckedField param="email">
            {(error) => (
              <TextInput
                name="email"
                type="email"
                label={t('email')}
                error={error}
                required
                data-autofocus
              />
            )}
          </CheckedField>
          <Select
            label={t('role')}
            description={t('rolesText')}
            data={ASSIGNABLE_ROLES.map((value) => ({ value, label: t(value) }))}
            value={role}
            onChange={(value) => setRole(ASSIGNABLE_ROLES.find((one) => one === value) ?? 'viewer')}
            allowDeselect={false}
          />
        </SubmitForm>
      )}
    </Dialog>
  )
}
