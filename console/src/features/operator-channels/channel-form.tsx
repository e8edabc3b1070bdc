/** Form for the settings of a channel, built from its upstream's schema. */
import { Button, Group, Select, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { ErrorState } from '../../components/state/error-state.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import { FieldInput } from './field-input.tsx'
import { messages } from './messages.ts'
import { listSettingFields, readValues, toSettings } from './setting-fields.ts'

export type UpstreamListing = AdminAnswer<'GET /operator/upstreams'>['data'][number]
export type EditedChannel = AdminAnswer<'GET /operator/channels/:channel_id'>

interface ChannelFormProps {
  readonly upstreams: readonly UpstreamListing[]
  /** Absent for a new one. */
  readonly channel?: EditedChannel
  readonly onSaved: (id: string) => void
}

export function ChannelForm({ upstreams, channel, onSaved }: ChannelFormProps) {
  const t = useMessages(messages)
  const [id, setId] = useState(channel?.id ?? '')
  const [name, setName] = useState(channel?.upstream ?? upstreams[0]?.name ?? '')
  const upstream = upstreams.find((one) => one.name === name)
  return (
    <Stack gap="sm">
      {channel ? null : (
        <>
          <Select
            label={t('upstream')}
            description={t('upstreamNote')}
            data={upstreams.map((one) => ({
              value: one.name,
              label: `${one.name} — ${one.serves.join(', ')}`,
            }))}
            value={name}
            allowDeselect={false}
            searchable
            onChange={(chosen) => setName(chosen ?? name)}
          />
          <TextInput
            label={t('id')}
            description={t('idNote')}
            required
            maxLength={64}
            value={id}
            onChange={({ currentTarget }) => setId(currentTarget.value)}
          />
        </>
      )}
      {upstream ? (
        <SettingsForm
          key={upstream.name}
          id={id.trim()}
          upstream={upstream}
          onSaved={onSaved}
          {...(channel ? { channel } : {})}
        />
      ) : null}
    </Stack>
  )
}

interface SettingsFormProps {
  readonly id: string
  readonly upstream: UpstreamListing
  readonly channel?: EditedChannel
  readonly onSaved: (id: string) => void
}

function SettingsForm({ id, upstream, channel, onSaved }: SettingsFormProps) {
  const t = useMessages(messages)
  const fields = listSettingFields(upstream.settings_schema, upstream.secrets)
  const [values, setValues] = useState(() => readValues(fields, channel?.settings ?? {}))
  const [problem, setProblem] = useState<Error>()
  const change = useAdminChange('PUT /operator/channels/:channel_id')
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const read = toSettings(fields, values)
    if ('badJson' in read) {
      setProblem(new Error(`${read.badJson}: ${t('badJson')}`))
      return
    }
    setProblem(undefined)
    const body = { upstream: upstream.name, settings: read.settings }
    const saved = await change
      .mutateAsync({ params: { channel_id: id }, body })
      .catch(() => undefined)
    if (!saved) return
    notifyDone(t('saved', { id }))
    onSaved(id)
  }
  const failure = problem ?? change.error
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        {fields.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            value={values[field.name] ?? ''}
            isStored={channel?.settings[field.name] !== undefined}
            onChange={(value) => setValues({ ...values, [field.name]: value })}
          />
        ))}
        {failure ? <ErrorState error={failure} /> : null}
        <Group justify="flex-end">
          <Button type="submit" loading={change.isPending}>
            {channel ? t('save') : t('add')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
