/** After the password: a code, a recovery code or a passkey. */
import { Button, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { SubmitForm } from '../../components/submit-form.tsx'
import { useSubmit } from '../../components/use-submit.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { usePasskey as askPasskey, type Factor, type Outcome, sendSecondFactor } from './api.ts'
import { Frame } from './frame.tsx'
import { messages } from './messages.ts'

interface SecondFactorProps {
  readonly methods: readonly Factor[]
  readonly onDone: (outcome: Outcome) => Promise<void>
  readonly onBack: () => void
}

export function SecondFactor({ methods, onDone, onBack }: SecondFactorProps) {
  const t = useMessages(messages)
  const [isRecovery, setRecovery] = useState(!methods.includes('totp'))
  const hasCodes = methods.includes('totp') || methods.includes('recovery_code')
  return (
    <Frame title={t('secondFactor')} text={t('secondFactorText')}>
      {methods.includes('passkey') ? <Passkey onDone={onDone} /> : null}
      {hasCodes ? (
        <SubmitForm
          act={t('continue')}
          onSend={async ({ code = '' }) =>
            onDone(await sendSecondFactor(isRecovery ? { recovery_code: code } : { code }))
          }
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
    </Frame>
  )
}

function Passkey({ onDone }: Pick<SecondFactorProps, 'onDone'>) {
  const t = useMessages(messages)
  const { isBusy, failure, submit } = useSubmit(async () => onDone(await askPasskey('/passkey')))
  return (
    <Stack gap="sm" mb="md">
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
