/** An input for a password or a key, whose eye has a name in the reader's language. */
import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from '../messages.ts'

export function SecretInput(props: PasswordInputProps) {
  const t = useMessages(messages)
  return (
    <PasswordInput
      // The library marks only its other inputs as invalid.
      aria-invalid={props.error ? true : undefined}
      visibilityToggleButtonProps={{ 'aria-label': t('showOrHide') }}
      {...props}
    />
  )
}
