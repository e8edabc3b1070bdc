/** Accepts an invitation, as a new user or as the signed-in one. */
import { Loader, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { type AdminAnswer, callAdmin } from '../../lib/api.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { useToken } from './api.ts'
import { useEnter } from './enter.ts'
import { SignInFrame } from './frame.tsx'
import { messages } from './messages.ts'
import { NewPassword } from './new-password.tsx'
import { ProviderButtons } from './provider-buttons.tsx'

type Invitation = AdminAnswer<'POST /session/invitation/view'>

export function Page() {
  const t = useMessages(messages)
  const token = useToken()
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => callAdmin('POST /session/invitation/view', { body: { token } }),
    enabled: token !== '',
  })
  if (!token) return <SignInFrame title={t('join')}>{t('noToken')}</SignInFrame>
  if (invitation.data) return <Accept key={token} invitation={invitation.data} token={token} />
  return (
    <SignInFrame title={t('join')}>
      {invitation.error ? (
        <ErrorState error={invitation.error} onRetry={() => void invitation.refetch()} />
      ) : (
        <Loader size="sm" />
      )}
    </SignInFrame>
  )
}

interface AcceptProps {
  readonly invitation: Invitation
  readonly token: string
}

function Accept({ invitation, token }: AcceptProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const enter = useEnter()
  const describe = useDescription()
  return (
    <SignInFrame title={t('join')} text={describe(invitation)}>
      <SubmitForm
        act={t('joinNow')}
        onSend={async ({ name = '', password = '' }) => {
          const body = invitation.known ? { token } : { token, language, name, password }
          await callAdmin('POST /session/invitation', { body })
          await enter()
        }}
      >
        {invitation.known ? (
          t('joinKnown')
        ) : (
          <>
            <input type="hidden" autoComplete="username" value={invitation.email} readOnly />
            <TextInput
              name="name"
              label={t('name')}
              autoComplete="name"
              required
              autoFocus
              withAsterisk={false}
            />
            <NewPassword />
          </>
        )}
      </SubmitForm>
      {invitation.known ? null : (
        <ProviderButtons
          onUse={async (provider) => {
            const body = { token, provider }
            return (await callAdmin('POST /session/invitation/oidc', { body })).location
          }}
        />
      )}
    </SignInFrame>
  )
}

function useDescription() {
  const t = useMessages(messages)
  return ({ email, account_name: account, operator }: Invitation) => {
    if (account !== null) return t('joinAccount', { account, email })
    return t(operator ? 'joinOperator' : 'joinPlain', { email })
  }
}
