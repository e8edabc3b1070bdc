/** Field for a new password. */
import { PasswordInput } from '@mantine/core'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

const LENGTH_MIN = 12

export function NewPassword() {
  const t = useMessages(messages)
  return (
    <PasswordInput
      name="password"
      label={t('newPassword')}
      description={t('newPasswordHint')}
      autoComplete="new-password"
      minLength={LENGTH_MIN}
      required
      withAsterisk={false}
    />
  )
}
