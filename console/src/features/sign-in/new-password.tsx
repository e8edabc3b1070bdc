/** Field for a new password. */

import { useFieldError } from '../../components/form/checked-form.tsx'
import { SecretInput } from '../../components/form/secret-input.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

const LENGTH_MIN = 12

export function NewPassword() {
  const t = useMessages(messages)
  return (
    <SecretInput
      name="password"
      error={useFieldError('password')}
      label={t('newPassword')}
      description={t('newPasswordHint')}
      autoComplete="new-password"
      minLength={LENGTH_MIN}
      required
      withAsterisk={false}
    />
  )
}
