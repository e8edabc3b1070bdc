/** One setting as an input of its kind. */
import { JsonInput, PasswordInput, Select, Switch, TextInput } from '@mantine/core'
import { useFieldError } from '../../components/form/checked-form.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'
import type { Field } from './setting-fields.ts'

interface FieldInputProps {
  readonly field: Field
  readonly value: string
  /** A secret that is stored already may stay empty. */
  readonly isStored: boolean
  readonly onChange: (value: string) => void
}

export function FieldInput({ field, value, isStored, onChange }: FieldInputProps) {
  const t = useMessages(messages)
  const { name, kind, description, choices, isRequired } = field
  const error = useFieldError(`settings.${name}`)
  const shared = { label: name, description, value, error }
  switch (kind) {
    case 'switch':
      return (
        <Switch
          label={name}
          description={description}
          error={error}
          aria-invalid={error !== undefined}
          checked={value === 'true'}
          onChange={({ currentTarget }) => onChange(String(currentTarget.checked))}
        />
      )
    case 'choice':
      return (
        <Select
          {...shared}
          data={[...choices]}
          allowDeselect={!isRequired}
          onChange={(chosen) => onChange(chosen ?? '')}
        />
      )
    case 'secret':
      return (
        <PasswordInput
          {...shared}
          description={isStored ? t('secretKept') : t('secretNew')}
          required={isRequired && !isStored}
          aria-invalid={error !== undefined}
          autoComplete="off"
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )
    case 'json':
    case 'secret-json':
      return (
        <JsonInput
          {...shared}
          description={kind === 'json' ? description : isStored ? t('secretKept') : t('secretNew')}
          placeholder={t('json')}
          validationError={t('badJson')}
          formatOnBlur
          autosize
          minRows={1}
          maxRows={8}
          onChange={onChange}
        />
      )
    default:
      return (
        <TextInput
          {...shared}
          required={isRequired}
          inputMode={kind === 'number' ? 'decimal' : 'text'}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )
  }
}
