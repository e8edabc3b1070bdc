/** Second factor after the password: a code, a recovery code or a passkey. */
import { Button, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { callAdmin } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { type SignInAnswer, type SignInMethod, signInWithPasskey } from './api.ts'
import { SignInFrame } from './frame.tsx'
import { messages } from './messages.ts'
import { PasskeyButton } from './passkey-button.tsx'

interface SecondFactorProps {
  readonly methods: readonly SignInMethod[]
  readonly onDone: (outcome: SignInAnswer) => Promise<void>
  readonly onBack: () => void
}

export function SecondFactor({ methods, onDone, onBack }: SecondFactorProps) {
  const t = useMessages(messages)
  const [isRecovery, setRecovery] = useState(!methods.includes('totp'))
  const hasCodes = methods.includes('totp') || methods.includes('recovery_code')
  return (
    <SignInFrame title={t('secondFactor')} text={t('secondFactorText')}>
      {methods.includes('passkey') ? (
        <PasskeyButton onUse={async () => onDone(await signInWithPasskey())} />
      ) : null}
      {hasCodes ? (
        <SubmitForm
          act={t('continue')}
          onSend={async ({ code = '' }) => {
            const body = isRecovery ? { recovery_code: code } : { code }
            await onDone(await callAdmin('POST /session/second-factor', { body }))
          }}
        >
          <TextInput
            key={String(isRecovery)}
            name="code"
            label={t(isRecovery ? 'recoveryCode' : 'code')}
            autoComplete="one-time-code"
            inputMode={isRecovery ? 'text' : 'numeric'}
            required
            autoFocus
            withAsterisk={false}
          />
        </SubmitForm>
      ) : null}
      <Stack gap={4} mt="sm">
        {methods.includes('totp') && methods.includes('recovery_code') ? (
          <Button variant="subtle" size="compact-sm" onClick={() => setRecovery(!isRecovery)}>
            {t(isRecovery ? 'useCode' : 'useRecovery')}
          </Button>
        ) : null}
        <Button variant="subtle" color="gray" size="compact-sm" onClick={onBack}>
          {t('back')}
        </Button>
      </Stack>
    </SignInFrame>
  )
}
