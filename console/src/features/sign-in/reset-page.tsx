/** Sets a new password by an operator's link. */

import { useState } from 'react'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { ButtonLink } from '../../components/links.tsx'
import { callAdmin } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useToken } from './api.ts'
import { SignInFrame } from './frame.tsx'
import { messages } from './messages.ts'
import { NewPassword } from './new-password.tsx'

export function Page() {
  const t = useMessages(messages)
  const token = useToken()
  const [done, setDone] = useState<string>()
  if (done === token) {
    return (
      <SignInFrame title={t('reset')} text={t('resetDone')}>
        <ButtonLink to="/sign-in" fullWidth>
          {t('signIn')}
        </ButtonLink>
      </SignInFrame>
    )
  }
  if (!token) return <SignInFrame title={t('reset')}>{t('noToken')}</SignInFrame>
  return (
    <SignInFrame title={t('reset')} text={t('resetText')}>
      <SubmitForm
        key={token}
        act={t('save')}
        onSend={async ({ password = '' }) => {
          await callAdmin('POST /session/reset', { body: { token, password } })
          setDone(token)
        }}
      >
        <NewPassword />
      </SubmitForm>
    </SignInFrame>
  )
}
