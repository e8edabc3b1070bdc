/** Signing in: e-mail and password or a passkey, then perhaps a second factor. */
import { Button, Divider, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { SubmitForm } from '../../components/submit-form.tsx'
import { useSubmit } from '../../components/use-submit.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { usePasskey as askPasskey, type Factor, type Outcome, signIn } from './api.ts'
import { useEnter } from './enter.ts'
import { Frame } from './frame.tsx'
import { messages } from './messages.ts'
import { SecondFactor } from './second-factor.tsx'

export function Page() {
  const t = useMessages(messages)
  const [methods, setMethods] = useState<readonly Factor[]>()
  const enter = useEnter()
  const goOn = async (outcome: Outcome) => {
    if (outcome.status === 'signed_in') await enter()
    else setMethods(outcome.methods)
  }
  if (methods) {
    return <SecondFactor methods={methods} onDone={goOn} onBack={() => setMethods(undefined)} />
  }
  return (
    <Frame title={t('signIn')}>
      <SubmitForm
        act={t('signIn')}
        onSend={async ({ email = '', password = '' }) => goOn(await signIn({ email, password }))}
      >
        <TextInput
          name="email"
          type="email"
          label={t('email')}
          autoComplete="username"
          required
          autoFocus
          withAsterisk={false}
        />
        <PasswordInput
          name="password"
          label={t('password')}
          autoComplete="current-password"
          required
          withAsterisk={false}
        />
      </SubmitForm>
      <PasskeyButton onDone={goOn} />
      <Text size="xs" c="dimmed" mt="md">
        {t('forgot')}
      </Text>
    </Frame>
  )
}

/** Absent where the browser has no passkeys, as at an address without TLS. */
function PasskeyButton({ onDone }: { readonly onDone: (outcome: Outcome) => Promise<void> }) {
  const t = useMessages(messages)
  const { isBusy, failure, submit } = useSubmit(async () => onDone(await askPasskey('/passkey')))
  if (!('PublicKeyCredential' in window)) return null
  return (
    <Stack gap="sm" mt="md">
      <Divider label={t('or')} />
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
