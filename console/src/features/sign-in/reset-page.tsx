/** A new password, by a link that an operator made. */
import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useMessages } from '../../lib/i18n.tsx'
import { readToken, resetPassword } from './api.ts'
import { Form } from './form.tsx'
import { Frame } from './frame.tsx'
import { messages } from './messages.ts'
import { NewPassword } from './new-password.tsx'

export function Page() {
  const t = useMessages(messages)
  const [token] = useState(readToken)
  const [isDone, setDone] = useState(false)
  if (isDone) {
    return (
      <Frame title={t('reset')} text={t('resetDone')}>
        <Button component={Link} to="/sign-in" fullWidth>
          {t('signIn')}
        </Button>
      </Frame>
    )
  }
  if (!token) return <Frame title={t('reset')}>{t('noToken')}</Frame>
  return (
    <Frame title={t('reset')} text={t('resetText')}>
      <Form
        act={t('save')}
        onSend={async ({ password = '' }) => {
          await resetPassword({ token, password })
          setDone(true)
        }}
      >
        <NewPassword />
      </Form>
    </Frame>
  )
}
