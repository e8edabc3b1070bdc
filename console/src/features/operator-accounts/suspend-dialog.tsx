/** Dialog that suspends an account, with a reason for the audit log. */
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

interface SuspendDialogProps {
  readonly account: { readonly id: string; readonly name: string }
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function SuspendDialog({ account, isOpen, onClose }: SuspendDialogProps) {
  const t = useMessages(messages)
  const suspend = useAdminChange('POST /operator/accounts/:account_id/suspend')
  const [reason, setReason] = useState('')
  return (
    <ConfirmDialog
      isOpen={isOpen}
      title={t('suspend')}
      act={t('suspend')}
      isDangerous
      onClose={onClose}
      onConfirm={async () => {
        await suspend.mutateAsync({ params: { account_id: account.id }, body: { reason } })
        notifyDone(t('suspended', { name: account.name }))
      }}
    >
      {t('suspendText')}
      <TextInput
        mt="sm"
        label={t('reason')}
        required
        maxLength={500}
        value={reason}
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
      />
    </ConfirmDialog>
  )
}
