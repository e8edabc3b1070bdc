/** One setting as an input of its kind. */
import { JsonInput, Select, Switch, Textarea, TextInput } from '@mantine/core'
import { useFieldError } from '../../components/form/checked-form.tsx'
import { SecretInput } from '../../components/form/secret-input.tsx'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'
import { exampleOf, type Field } from './setting-fields.ts'
import { messages as words } from './setting-messages.ts'

interface FieldInputProps {
  readonly field: Field
  readonly value: string
  /** A secret that is stored already may stay empty. */
  readonly isStored: boolean
  readonly onChange: (value: string) => void
}

export function FieldInput({ field, value, isStored, onChange }: FieldInputProps) {
  const t = useMessages(messages)
  const { kind, choices, isRequired } = field
  const named = useSettingWords(field)
  const error = useFieldError(`settings.${field.name}`)
  const shared = { ...named, value, error }
  const secretNote = isStored ? t('secretKept') : t('secretNew')
  if (kind === 'option') return <OptionInput {...shared} onChange={onChange} />
  switch (kind) {
    case 'switch':
      return (
        <Switch
          {...named}
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
        <SecretInput
          {...shared}
          description={secretNote}
          required={isRequired && !isStored}
          aria-invalid={error !== undefined}
          autoComplete="off"
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )
    case 'secret-list':
      return <SecretList {...shared} isStored={isStored} onChange={onChange} />
    case 'json':
    case 'secret-json':
      return (
        <JsonInput
          {...shared}
          description={kind === 'json' ? named.description : secretNote}
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
          {...(field.name === 'base_url'
            ? { placeholder: t('example', { example: exampleOf(field.initial) }) }
            : {})}
          required={isRequired}
          inputMode={kind === 'number' ? 'decimal' : 'text'}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )
  }
}

type Word = keyof (typeof words)['en']

const isWord = (key: string): key is Word => Object.hasOwn(words.en, key)

/** Returns the label of a setting; a member of one has its path behind it. */
export function useSettingLabel() {
  const { language } = useLanguage()
  return (path: string) => {
    const [name = path] = path.split(/[.[]/)
    const key = `label_${name}`
    return `${isWord(key) ? words[language][key] : name}${path.slice(name.length)}`
  }
}

/** Returns a setting's name and help in plain language; unknown settings keep their own. */
function useSettingWords({ name, description }: Field) {
  const { language } = useLanguage()
  const say = (key: string, absent: string) => (isWord(key) ? words[language][key] : absent)
  return {
    label: say(`label_${name}`, name),
    description: say(`help_${name}`, description),
  }
}

interface TextProps {
  readonly label: string
  readonly description: string
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (value: string) => void
}

/** The choice that leaves an option open. */
const OPEN = 'default'

function OptionInput({ value, onChange, ...shared }: TextProps) {
  const t = useMessages(messages)
  return (
    <Select
      {...shared}
      value={value === '' ? OPEN : value}
      data={[
        { value: OPEN, label: t('byDefault') },
        { value: 'true', label: t('on') },
        { value: 'false', label: t('off') },
      ]}
      allowDeselect={false}
      onChange={(chosen) => onChange(chosen === null || chosen === OPEN ? '' : chosen)}
    />
  )
}

interface SecretListProps extends TextProps {
  readonly isStored: boolean
}

/** Several secrets, one per line. */
function SecretList({ isStored, description, onChange, ...shared }: SecretListProps) {
  const t = useMessages(messages)
  return (
    <Textarea
      {...shared}
      description={isStored ? t('secretKept') : description}
      autosize
      minRows={1}
      maxRows={8}
      autoComplete="off"
      styles={{ input: { fontFamily: 'monospace', fontSize: 12 } }}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}
