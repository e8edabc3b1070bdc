/** Asks who it is once more, whenever a call was refused for want of it. */
import { Modal, PasswordInput, Text, TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { SubmitForm } from '../../components/submit-form.tsx'
import { callAdmin } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { registerStepUp } from '../../lib/step-up.ts'
import { stepUpWithPasskey } from './api.ts'
import { messages } from './messages.ts'
import { PasskeyButton } from './passkey-button.tsx'

/** Mounted once. The call that is refused waits for `finish`. */
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
  const prove = async ({ password = '', code = '' }: Readonly<Record<string, string>>) => {
    await callAdmin('POST /session/step-up', { body: code ? { password, code } : { password } })
    finish(true)
  }
  return (
    <Modal
      opened={isOpen}
      onClose={() => finish(false)}
      title={t('confirmTitle')}
      size="sm"
      zIndex={400}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <Text size="sm" c="dimmed" mb="sm">
        {t('confirmText')}
      </Text>
      <SubmitForm act={t('confirm')} onSend={prove}>
        <PasswordInput
          name="password"
          label={t('password')}
          autoComplete="current-password"
          required
          withAsterisk={false}
          data-autofocus
        />
        <TextInput
          name="code"
          label={t('codeOptional')}
          autoComplete="one-time-code"
          inputMode="numeric"
        />
      </SubmitForm>
      <PasskeyButton
        onUse={async () => {
          await stepUpWithPasskey()
          finish(true)
        }}
      />
    </Modal>
  )
}
