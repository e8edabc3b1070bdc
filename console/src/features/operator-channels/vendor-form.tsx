/** The channels of a known vendor: its keys, and everything else preset. */
import { Anchor, Button, Group, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { CheckedForm, useFieldError } from '../../components/form/checked-form.tsx'
import { InvalidField } from '../../components/form/invalid-field.ts'
import { SecretInput } from '../../components/form/secret-input.tsx'
import { useSubmit } from '../../components/form/use-submit.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { vendorName } from '../../lib/words/vendor-names.ts'
import type { UpstreamListing } from './channel-form.tsx'
import { IdInput } from './id-input.tsx'
import { exampleOf, listSettingFields, readValues, toSettings } from './setting-fields.ts'
import { SettingInputs } from './setting-inputs.tsx'
import { messages as settingMessages } from './setting-messages.ts'
import { listNeeded, listPresets, type Needed, nameOf, toChannels } from './vendor-choice.ts'
import { messages } from './vendor-messages.ts'
import type { VendorListing } from './vendor-picker.tsx'

interface VendorFormProps {
  readonly vendor: VendorListing
  readonly upstreams: readonly UpstreamListing[]
  /** Receives the ids of the new channels. */
  readonly onAdded: (ids: readonly string[]) => void
}

export function VendorForm({ vendor, upstreams, onAdded }: VendorFormProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const form = useVendorForm({ vendor, upstreams, onAdded })
  const { presets, only, needed, fields, values, typed } = form
  return (
    <CheckedForm
      failure={form.failure}
      isBusy={form.isBusy}
      onSubmit={form.submit}
      actions={
        <Group justify="flex-end">
          <Button type="submit" loading={form.isBusy}>
            {t('act', { name: vendorName(vendor, language) })}
          </Button>
        </Group>
      }
    >
      {only ? (
        <IdInput id={form.name} onChange={form.setName} />
      ) : (
        <Text size="sm">
          {t('severalChannels', { channels: presets.map(({ id }) => id).join(', ') })}
        </Text>
      )}
      {needed.map((one) => (
        <NeededInput
          key={one.variable}
          needed={one}
          isOnly={needed.length === 1}
          keyPage={vendor.key_page}
          value={typed[one.variable] ?? ''}
          onChange={(value) => form.setTyped({ ...typed, [one.variable]: value })}
        />
      ))}
      {only ? (
        <SettingInputs fields={fields} values={values} stored={{}} onChange={form.setValues} />
      ) : null}
    </CheckedForm>
  )
}

/** Keeps what is typed, and adds the channels of it. */
function useVendorForm({ vendor, upstreams, onAdded }: VendorFormProps) {
  const t = useMessages(messages)
  const channels = useAdmin('GET /operator/channels', { query: { retired: 'true' } })
  const presets = listPresets(vendor.channels)
  const [only] = presets.length === 1 ? presets : []
  const needed = listNeeded(presets)
  const taken = (channels.data?.data ?? []).map(({ id }) => id)
  const [typedName, setName] = useState<string>()
  const name = typedName ?? (only ? nameOf(only, taken) : '')
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const upstream = upstreams.find((one) => one.name === only?.upstream)
  // Values from variables have inputs of their own; the key of a server without one has not.
  const fields = listSettingFields(upstream?.settings_schema ?? {}, upstream?.secrets ?? []).filter(
    (field) => !needed.some(({ setting }) => setting === field.name),
  )
  const [values, setValues] = useState(() => readValues(fields, only?.settings ?? {}))
  const change = useAdminChange('POST /operator/vendors/:vendor_id')
  const { isBusy, failure, submit } = useSubmit(async () => {
    const read = toSettings(fields, values)
    if ('badJson' in read) throw new InvalidField(`settings.${read.badJson}`, t('badJson'))
    const found = toChannels(presets, typed, only ? read.settings : {})
    if (found.length === 0) throw new InvalidField('settings.api_key', t('nothing'))
    const body = only ? found.map((one) => ({ ...one, id: name.trim() })) : found
    await change.mutateAsync({ params: { vendor_id: vendor.id }, body: { channels: body } })
    onAdded(body.map(({ id }) => id))
  })
  return {
    presets,
    only,
    needed,
    fields,
    values,
    setValues,
    typed,
    setTyped,
    name,
    setName,
    isBusy,
    failure,
    submit: () => submit(undefined),
  }
}

interface NeededInputProps {
  readonly needed: Needed
  /** False if a vendor's channels need different keys, of which some may stay empty. */
  readonly isOnly: boolean
  readonly keyPage: string | null
  readonly value: string
  readonly onChange: (value: string) => void
}

function NeededInput({ needed, isOnly, keyPage, value, onChange }: NeededInputProps) {
  const t = useMessages(messages)
  const words = useMessages(settingMessages)
  const error = useFieldError(`settings.${needed.setting}`)
  const isAddress = needed.setting === 'base_url'
  const Input = isAddress ? TextInput : SecretInput
  const page = keyPage !== null && !isAddress ? new URL(keyPage) : undefined
  return (
    <Input
      label={
        isAddress
          ? words('label_base_url')
          : isOnly
            ? words('label_api_key')
            : t('keyOf', { channels: needed.channels.join(', ') })
      }
      description={
        <>
          {page ? (
            <Anchor href={page.href} target="_blank" rel="noreferrer" inherit>
              {t('keyPage', { host: page.host })}
            </Anchor>
          ) : null}{' '}
          {needed.isSet ? t('fromVariable', { variable: needed.variable }) : null}
          {!needed.isSet && !isOnly && !isAddress ? t('keyEmpty') : null}
        </>
      }
      {...(isAddress ? { placeholder: exampleOf('') } : {})}
      required={isOnly && !needed.isSet}
      error={error}
      aria-invalid={error !== undefined}
      autoComplete="off"
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}
