/** Signing up: asks for a link by mail or leads to a provider, and takes the link's owner in. */
import { Anchor, Checkbox, Loader, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useFieldError } from '../../components/form/checked-form.tsx'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { ButtonLink, TextLink } from '../../components/links.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { type AdminAnswer, callAdmin } from '../../lib/api.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import { useToken } from './api.ts'
import { useEnter } from './enter.ts'
import { SignInFrame } from './frame.tsx'
import { messages } from './messages.ts'
import { NewPassword } from './new-password.tsx'
import { ProviderButtons, startAddress, useProviders } from './provider-buttons.tsx'

type Offer = NonNullable<AdminAnswer<'GET /session/start'>['sign_up']>

export function Page() {
  const t = useMessages(messages)
  const token = useToken()
  const { data, error, refetch } = useAdmin('GET /session/start', {})
  if (!data) {
    return (
      <SignInFrame title={t('signUp')}>
        {error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loader size="sm" />}
      </SignInFrame>
    )
  }
  const { sign_up: offer } = data
  if (!offer) return <SignInFrame title={t('signUp')}>{t('signUpOff')}</SignInFrame>
  return token ? <Confirmed key={token} offer={offer} token={token} /> : <Ask offer={offer} />
}

function Ask({ offer }: { readonly offer: Offer }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const providers = useProviders()
  const [sentTo, setSentTo] = useState<string>()
  if (!offer.by_mail && providers?.length === 0) {
    return <SignInFrame title={t('signUp')}>{t('signUpNoWay')}</SignInFrame>
  }
  if (sentTo !== undefined) {
    return (
      <SignInFrame title={t('signUp')}>
        <Text role="status">{t('mailSent', { email: sentTo })}</Text>
      </SignInFrame>
    )
  }
  return (
    <SignInFrame title={t('signUp')} text={<About offer={offer} />}>
      {offer.by_mail ? (
        <SubmitForm
          act={t('sendLink')}
          onSend={async ({ email = '' }) => {
            await callAdmin('POST /session/sign-up', { body: { email, language } })
            setSentTo(email)
          }}
        >
          <EmailField />
        </SubmitForm>
      ) : null}
      <Providers terms={offer.terms} />
      <Text size="xs" c="dimmed" mt="md">
        {t('haveSignIn')} <TextLink to="/sign-in">{t('signIn')}</TextLink>
      </Text>
    </SignInFrame>
  )
}

function About({ offer: { domains, grant, currency } }: { readonly offer: Offer }) {
  const t = useMessages(messages)
  const lines = [
    domains.length > 0 ? t('onlyDomains', { domains: domains.join(', ') }) : '',
    Number(grant) > 0 ? t('grantText', { amount: grant, currency }) : '',
  ]
  return lines.filter(Boolean).join(' ')
}

function EmailField() {
  const t = useMessages(messages)
  return (
    <TextInput
      name="email"
      type="email"
      label={t('email')}
      error={useFieldError('email')}
      autoComplete="email"
      required
      autoFocus
      withAsterisk={false}
    />
  )
}

/** A provider confirms the address at once, so the terms are accepted before. */
function Providers({ terms }: Pick<Offer, 'terms'>) {
  const [isAccepted, setAccepted] = useState(false)
  const mayGo = terms === null || isAccepted
  const query = terms === null ? {} : { accept_terms: 'true' }
  return (
    <ProviderButtons
      isDisabled={!mayGo}
      above={<Terms terms={terms} isAccepted={isAccepted} onAccept={setAccepted} />}
      onUse={(provider) => startAddress(provider, '/', query)}
    />
  )
}

interface TermsProps extends Pick<Offer, 'terms'> {
  readonly isAccepted: boolean
  readonly onAccept: (isAccepted: boolean) => void
}

function Terms({ terms, isAccepted, onAccept }: TermsProps) {
  const t = useMessages(messages)
  if (terms === null) return null
  return (
    <Checkbox
      mt="sm"
      checked={isAccepted}
      onChange={(event) => onAccept(event.currentTarget.checked)}
      label={
        <>
          {t('acceptTerms')}{' '}
          <Anchor href={terms} target="_blank" rel="noreferrer" inherit>
            {t('terms')}
          </Anchor>
        </>
      }
    />
  )
}

function Confirmed({ offer, token }: { readonly offer: Offer; readonly token: string }) {
  const t = useMessages(messages)
  const view = useQuery({
    queryKey: ['sign-up', token],
    queryFn: () => callAdmin('POST /session/sign-up/view', { body: { token } }),
  })
  if (!view.data) {
    return (
      <SignInFrame title={t('signUp')}>
        {view.error ? (
          <ErrorState error={view.error} onRetry={() => void view.refetch()} />
        ) : (
          <Loader size="sm" />
        )}
      </SignInFrame>
    )
  }
  const { email, known } = view.data
  if (!known) return <Finish offer={offer} token={token} email={email} />
  return (
    <SignInFrame title={t('signUp')} text={t('signUpKnown', { email })}>
      <ButtonLink to="/sign-in" fullWidth>
        {t('signIn')}
      </ButtonLink>
    </SignInFrame>
  )
}

interface FinishProps {
  readonly offer: Offer
  readonly token: string
  readonly email: string
}

function Finish({ offer: { terms }, token, email }: FinishProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const enter = useEnter()
  const [isAccepted, setAccepted] = useState(false)
  return (
    <SignInFrame title={t('signUp')} text={t('confirmed', { email })}>
      <SubmitForm
        act={t('openAccount')}
        onSend={async ({ name = '', password = '' }) => {
          const body = { token, name, password, language, accept_terms: isAccepted }
          await callAdmin('POST /session/sign-up/finish', { body })
          await enter()
        }}
      >
        <input type="hidden" autoComplete="username" value={email} readOnly />
        <TextInput
          name="name"
          label={t('name')}
          autoComplete="name"
          required
          autoFocus
          withAsterisk={false}
        />
        <NewPassword />
        <Terms terms={terms} isAccepted={isAccepted} onAccept={setAccepted} />
      </SubmitForm>
    </SignInFrame>
  )
}
