/** Dialog that creates a key and shows it once. */
import { useState } from 'react'
import { CheckedSubmitForm } from '../../components/form/checked-submit-form.tsx'
import { Dialog } from '../../components/form/dialog.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import { EMPTY_DRAFT, KeyFields, toKeyBody } from './key-fields.tsx'
import { KeyShownOnce } from './key-shown-once.tsx'
import { messages } from './messages.ts'

interface CreateKeyProps {
  readonly isOpen: boolean
  readonly currency: string
  readonly onClose: () => void
}

export function CreateKey({ isOpen, currency, onClose }: CreateKeyProps) {
  const t = useMessages(messages)
  const account = useAccount()
  const [draft, setDraft] = useState(EMPTY_DRAFT)
  const create = useAdminChange('POST /accounts/:account_id/keys')
  const close = () => {
    onClose()
    setDraft(EMPTY_DRAFT)
    create.reset()
  }
  const send = async () => {
    await create.mutateAsync({
      params: { account_id: account.id },
      body: toKeyBody(draft, account.isOwner),
    })
  }
  const secret = create.data?.key
  return (
    <Dialog
      isOpen={isOpen}
      title={t(secret ? 'createdTitle' : 'createTitle')}
      onClose={close}
      isSticky={secret !== undefined}
      isBusy={create.isPending}
    >
      {secret ? (
        <KeyShownOnce secret={secret} onClose={close} />
      ) : (
        <CheckedSubmitForm act={t('create')} onSend={send} onCancel={close}>
          <KeyFields draft={draft} currency={currency} onChange={setDraft} />
        </CheckedSubmitForm>
      )}
    </Dialog>
  )
}
