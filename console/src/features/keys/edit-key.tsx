/** Dialog that changes a key's name and limits. */
import { useState } from 'react'
import { CheckedSubmitForm } from '../../components/form/checked-submit-form.tsx'
import { Dialog } from '../../components/form/dialog.tsx'
import { onlyChanged } from '../../components/form/list-changes.ts'
import { notifyDone } from '../../components/state/notify.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import type { ApiKey } from './api-key.ts'
import { type KeyDraft, KeyFields, toKeyBody, toKeyDraft } from './key-fields.tsx'
import { messages } from './messages.ts'

interface EditKeyProps {
  readonly isOpen: boolean
  readonly apiKey: ApiKey
  readonly currency: string
  readonly onClose: () => void
}

export function EditKey({ isOpen, ...props }: EditKeyProps) {
  const t = useMessages(messages)
  const name = props.apiKey.name || props.apiKey.display
  return (
    <Dialog isOpen={isOpen} title={t('editTitle', { name })} onClose={props.onClose}>
      <EditForm {...props} />
    </Dialog>
  )
}

function EditForm({ apiKey, currency, onClose }: Omit<EditKeyProps, 'isOpen'>) {
  const t = useMessages(messages)
  const account = useAccount()
  // As it was opened: live updates of the key meanwhile are not changes of this form.
  const [opened] = useState(() => toKeyDraft(apiKey))
  const [draft, setDraft] = useState(opened)
  const change = useAdminChange('PATCH /accounts/:account_id/keys/:key_id')
  const bodyOf = (of: KeyDraft) => toKeyBody(of, account.isOwner)
  const send = async () => {
    const params = { account_id: account.id, key_id: apiKey.id }
    await change.mutateAsync({ params, body: onlyChanged(bodyOf(opened), bodyOf(draft)) })
    notifyDone(t('changed'))
    onClose()
  }
  return (
    <CheckedSubmitForm act={t('save')} onSend={send} onCancel={onClose}>
      <KeyFields draft={draft} currency={currency} onChange={setDraft} />
    </CheckedSubmitForm>
  )
}
