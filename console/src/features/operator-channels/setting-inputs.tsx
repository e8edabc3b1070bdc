/** Inputs of a channel's settings: the usual ones, and the others on demand. */
import { Advanced } from '../../components/form/advanced.tsx'
import { FieldInput } from './field-input.tsx'
import type { Field, Settings, SettingValues } from './setting-fields.ts'

/** Settings that are shown at once, besides required ones. */
const PLAIN: readonly string[] = [
  'base_url',
  'api_key',
  'api_keys',
  'app_id',
  'access_key',
  'access_key_id',
  'secret_access_key',
  'session_token',
  'service_account',
  'project',
  'location',
  'max_concurrent_calls',
  'spending_cap_per_day',
  'spending_cap_per_month',
]

interface SettingInputsProps {
  readonly fields: readonly Field[]
  readonly values: SettingValues
  /** Settings of the channel as they are; empty for a new one. */
  readonly stored: Settings
  readonly onChange: (values: SettingValues) => void
}

export function SettingInputs({ fields, values, stored, onChange }: SettingInputsProps) {
  const isPlain = ({ name, isRequired }: Field) => isRequired || PLAIN.includes(name)
  const input = (field: Field) => (
    <FieldInput
      key={field.name}
      field={field}
      value={values[field.name] ?? ''}
      isStored={stored[field.name] !== undefined}
      onChange={(value) => onChange({ ...values, [field.name]: value })}
    />
  )
  const others = fields.filter((field) => !isPlain(field))
  return (
    <>
      {fields.filter(isPlain).map(input)}
      {others.length > 0 ? <Advanced>{others.map(input)}</Advanced> : null}
    </>
  )
}
