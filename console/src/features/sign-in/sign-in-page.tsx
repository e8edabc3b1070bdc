/** Sign-in with e-mail and password or a passkey, then a second factor if set up. */
import { Alert, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { SecretInput } from '../../components/form/secret-input.tsx'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { TextLink } from '../../components/links.tsx'
import { callAdmin } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import { readReturn, type SignInAnswer, signInWithPasskey } from './api.ts'
import { DemoButton } from './demo-button.tsx'
import { readNext, useEnter } from './enter.ts'
import { SignInFrame } from './frame.tsx'
import { messages } from './messages.ts'
import { PasskeyButton } from './passkey-button.tsx'
import { ProviderButtons, startAddress } from './provider-buttons.tsx'
import { SecondFactor } from './second-factor.tsx'

/** Shown where the gateway takes strangers. */
function SignUpLink() {
  const t = useMessages(messages)
  const { data } = useAdmin('GET /session/start', {})
  if (!data?.sign_up) return null
  return (
    <TextLink to="/sign-up" size="sm">
      {t('signUp')}
    </TextLink>
  )
}

export function Page() {
  const t = useMessages(messages)
  const [came] = useState(readReturn)
  const [methods, setMethods] = useState(came.methods)
  const enter = useEnter()
  const proceed = async (outcome: SignInAnswer) => {
    if (outcome.status === 'signed_in') await enter()
    else setMethods(outcome.methods)
  }
  if (methods) {
    return <SecondFactor methods={methods} onDone={proceed} onBack={() => setMethods(undefined)} />
  }
  return (
    <SignInFrame title={t('signIn')} text={t('about')}>
      {came.isEnded ? (
        <Alert color="yellow" mb="md" role="alert">
          {t('ended')}
        </Alert>
      ) : null}
      {came.refusal ? (
        <Alert color="red" mb="md" role="alert">
          {t(came.refusal)}
        </Alert>
      ) : null}
      <DemoButton onUse={proceed} />
      <SubmitForm
        act={t('signIn')}
        onSend={async ({ email = '', password = '' }) =>
          proceed(await callAdmin('POST /session', { body: { email, password } }))
        }
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
        <SecretInput
          name="password"
          label={t('password')}
          autoComplete="current-password"
          required
          withAsterisk={false}
        />
      </SubmitForm>
      <PasskeyButton onUse={async () => proceed(await signInWithPasskey())} />
      <ProviderButtons onUse={(provider) => startAddress(provider, readNext())} />
      <Text size="xs" c="dimmed" mt="md">
        {t('forgot')}
      </Text>
      <SignUpLink />
    </SignInFrame>
  )
}
