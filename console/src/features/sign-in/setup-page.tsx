/** First run: the link that was printed at start creates the operator. */
import { TextInput } from '@mantine/core'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { callAdmin } from '../../lib/api.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { useToken } from './api.ts'
import { useEnter } from './enter.ts'
import { SignInFrame } from './frame.tsx'
import { messages } from './messages.ts'
import { NewPassword } from './new-password.tsx'

export function Page() {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const token = useToken()
  const enter = useEnter()
  if (!token) return <SignInFrame title={t('setUp')}>{t('noToken')}</SignInFrame>
  return (
    <SignInFrame title={t('setUp')} text={t('setUpText')}>
      <SubmitForm
        key={token}
        act={t('create')}
        onSend={async ({ email = '', name = '', password = '' }) => {
          const body = { token, email, name, language, password }
          await callAdmin('POST /session/set-up', { body })
          await enter()
        }}
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
        <TextInput
          name="name"
          label={t('name')}
          autoComplete="name"
          required
          withAsterisk={false}
        />
        <NewPassword />
      </SubmitForm>
    </SignInFrame>
  )
}
