/** Asks who it is once more, whenever a call was refused for want of it. */
import { Button, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { SubmitForm } from '../../components/submit-form.tsx'
import { useSubmit } from '../../components/use-submit.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { registerStepUp } from '../../lib/step-up.ts'
import { usePasskey as askPasskey, stepUp } from './api.ts'
import { messages } from './messages.ts'

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
    await stepUp(code ? { password, code } : { password })
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
      <PasskeyProof onDone={() => finish(true)} />
    </Modal>
  )
}

function PasskeyProof({ onDone }: { readonly onDone: () => void }) {
  const t = useMessages(messages)
  const { isBusy, failure, submit } = useSubmit(async () => {
    await askPasskey('/step-up/passkey')
    onDone()
  })
  if (!('PublicKeyCredential' in window)) return null
  return (
    <Stack gap="sm" mt="sm">
      <Button
        variant="default"
        leftSection={<Icon name="key" size={16} />}
        loading={isBusy}
        onClick={() => submit(undefined)}
      >
        {t('withPasskey')}
      </Button>
      <Refusal failure={failure} />
    </Stack>
  )
}
