/** Dialog that verifies the user again when a call requires it. */
import { Button, Modal, Text, TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { SecretInput } from '../../components/form/secret-input.tsx'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { useIsOnTop } from '../../components/state/on-top.ts'
import { callAdmin } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { registerStepUp } from '../../lib/step-up.ts'
import { useAdmin } from '../../lib/use-admin.ts'
import { stepUpWithPasskey } from './api.ts'
import { messages } from './messages.ts'
import { PasskeyButton } from './passkey-button.tsx'
import { ProviderButtons, toReturn } from './provider-buttons.tsx'

/** Mounted once. The refused call waits for `finish`. */
export function StepUpDialog() {
  const t = useMessages(messages)
  const [isOpen, setOpen] = useState(false)
  const answer = useRef<(isProven: boolean) => void>(undefined)
  useEffect(
    () =>
      registerStepUp(() => {
        setOpen(true)
        return new Promise((resolve) => {
          answer.current = resolve
        })
      }),
    [],
  )
  const finish = (isProven: boolean) => {
    setOpen(false)
    answer.current?.(isProven)
  }
  const verify = async ({ password = '', ...codes }: Readonly<Record<string, string>>) => {
    const nonEmpty = Object.fromEntries(Object.entries(codes).filter(([, value]) => value !== ''))
    await callAdmin('POST /session/step-up', { body: { password, ...nonEmpty } })
    finish(true)
  }
  return (
    <Modal
      opened={isOpen}
      onClose={() => finish(false)}
      closeOnEscape={useIsOnTop(isOpen)}
      title={t('confirmTitle')}
      size="sm"
      zIndex={400}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <Text size="sm" c="dimmed" mb="sm">
        {t('confirmText')}
      </Text>
      <SubmitForm act={t('confirm')} onSend={verify}>
        <SecretInput
          name="password"
          label={t('password')}
          autoComplete="current-password"
          required
          withAsterisk={false}
          data-autofocus
        />
        <CodeField />
      </SubmitForm>
      <PasskeyButton
        onUse={async () => {
          await stepUpWithPasskey()
          finish(true)
        }}
      />
      {isOpen ? <OwnProviders /> : null}
    </Modal>
  )
}

/** Confirms at a provider of one's own: the page is left, and opened again afterwards. */
function OwnProviders() {
  const { data } = useAdmin('GET /profile/identities', {})
  if (!data || data.data.length === 0) return null
  const { pathname, search } = window.location
  const body = { return_to: toReturn(`${pathname.replace(/^\/console/, '')}${search}`) }
  return (
    <ProviderButtons
      only={data.data.map(({ provider }) => provider)}
      onUse={async (provider) =>
        (await callAdmin('POST /session/step-up/oidc', { body: { ...body, provider } })).location
      }
    />
  )
}

/** A code of the authenticator app, or a recovery code. */
function CodeField() {
  const t = useMessages(messages)
  const [isRecovery, setRecovery] = useState(false)
  return (
    <div>
      <TextInput
        key={String(isRecovery)}
        name={isRecovery ? 'recovery_code' : 'code'}
        label={t(isRecovery ? 'recoveryCode' : 'codeOptional')}
        autoComplete="one-time-code"
        inputMode={isRecovery ? 'text' : 'numeric'}
      />
      <Button variant="subtle" size="compact-xs" mt={4} onClick={() => setRecovery(!isRecovery)}>
        {t(isRecovery ? 'useCode' : 'useRecovery')}
      </Button>
    </div>
  )
}
