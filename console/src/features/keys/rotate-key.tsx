/** Dialog that replaces a key by a new one, with an overlap for deployment. */
import { Select } from '@mantine/core'
import { useState } from 'react'
import { Dialog } from '../../components/form/dialog.tsx'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import type { ApiKey } from './api-key.ts'
import { KeyShownOnce } from './key-shown-once.tsx'
import { messages } from './messages.ts'

interface RotateKeyProps {
  readonly isOpen: boolean
  readonly apiKey: ApiKey
  readonly onClose: () => void
}

const OVERLAPS = [
  ['0', 'overlapNow'],
  ['3600', 'overlapHour'],
  ['86400', 'overlapDay'],
  ['604800', 'overlapWeek'],
] as const

export function RotateKey({ isOpen, apiKey, onClose }: RotateKeyProps) {
  const t = useMessages(messages)
  const account = useAccount()
  const [overlap, setOverlap] = useState('86400')
  const rotate = useAdminChange('POST /accounts/:account_id/keys/:key_id/rotate')
  const secret = rotate.data?.key
  const close = () => {
    onClose()
    rotate.reset()
  }
  const send = async () => {
    const params = { account_id: account.id, key_id: apiKey.id }
    await rotate.mutateAsync({ params, body: { overlap_seconds: Number(overlap) } })
  }
  const title = secret
    ? t('createdTitle')
    : t('rotateTitle', { name: apiKey.name || apiKey.display })
  return (
    <Dialog
      isOpen={isOpen}
      title={title}
      onClose={close}
      isSticky={secret !== undefined}
      isBusy={rotate.isPending}
    >
      {secret ? (
        <KeyShownOnce secret={secret} onClose={close} />
      ) : (
        <SubmitForm act={t('rotate')} onSend={send} onCancel={close}>
          {t('rotateText')}
          <Select
            label={t('overlap')}
            data={OVERLAPS.map(([value, label]) => ({ value, label: t(label) }))}
            value={overlap}
            onChange={(value) => setOverlap(value ?? overlap)}
            allowDeselect={false}
          />
        </SubmitForm>
      )}
    </Dialog>
  )
}
