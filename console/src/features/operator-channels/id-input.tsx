/** The id of a new channel. */
import { TextInput } from '@mantine/core'
import { useFieldError } from '../../components/form/checked-form.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

interface IdInputProps {
  readonly id: string
  readonly onChange: (id: string) => void
}

export function IdInput({ id, onChange }: IdInputProps) {
  const t = useMessages(messages)
  return (
    <TextInput
      label={t('id')}
      description={t('idNote')}
      required
      maxLength={64}
      error={useFieldError('id')}
      value={id}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}
