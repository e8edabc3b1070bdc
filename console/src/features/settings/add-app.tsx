/** Dialog that adds an authenticator app: QR code, secret, first code. */
import { Loader, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Dialog } from '../../components/form/dialog.tsx'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { CopyText } from '../../components/text/copy-button.tsx'
import { callAdmin } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import { QrCode } from './qr-code.tsx'

interface AddAppProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onCodes: (codes: readonly string[]) => void
}

export function AddApp({ isOpen, ...props }: AddAppProps) {
  const t = useMessages(messages)
  return (
    <Dialog isOpen={isOpen} title={t('addApp')} onClose={props.onClose}>
      <AddAppForm {...props} />
    </Dialog>
  )
}

function AddAppForm({ onClose, onCodes }: Omit<AddAppProps, 'isOpen'>) {
  const t = useMessages(messages)
  // What the app has scanned must stay: no invalidation may ask again while the dialog is open.
  const offer = useQuery({
    queryKey: ['totp offer'],
    queryFn: () => callAdmin('POST /profile/totp', {}),
    staleTime: 'static',
    gcTime: 0,
    retry: false,
  })
  const confirm = useAdminChange('POST /profile/totp/confirm')
  if (offer.error) return <ErrorState error={offer.error} onRetry={() => void offer.refetch()} />
  if (!offer.data) return <Loader size="sm" />
  const send = async ({ code = '' }: Readonly<Record<string, string>>) => {
    const { recovery_codes: codes } = await confirm.mutateAsync({ body: { code } })
    onClose()
    onCodes(codes)
  }
  return (
    <SubmitForm act={t('confirm')} onSend={send} onCancel={onClose}>
      <Stack align="center" gap="xs">
        <Text size="sm">{t('scan')}</Text>
        <QrCode text={offer.data.uri} label={t('qrCode')} />
        <CopyText value={offer.data.secret} />
      </Stack>
      <TextInput
        name="code"
        label={t('firstCode')}
        autoComplete="one-time-code"
        inputMode="numeric"
        required
        withAsterisk={false}
      />
    </SubmitForm>
  )
}
