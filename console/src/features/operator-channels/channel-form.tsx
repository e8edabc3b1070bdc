/** Form for the settings of a channel, built from its upstream's schema. */
import { Button, Group, Stack } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { ChangesDialog } from '../../components/form/changes-dialog.tsx'
import { CheckedForm } from '../../components/form/checked-form.tsx'
import { InvalidField } from '../../components/form/invalid-field.ts'
import { useConfirmedSave } from '../../components/form/use-confirmed-save.ts'
import { notifyDone } from '../../components/state/notify.ts'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import { useSettingLabel } from './field-input.tsx'
import { IdInput } from './id-input.tsx'
import { messages } from './messages.ts'
import {
  listSettingChanges,
  listSettingFields,
  readValues,
  type Settings,
  toSettings,
} from './setting-fields.ts'
import { SettingInputs } from './setting-inputs.tsx'
import { UpstreamSelect } from './upstream-select.tsx'

export type UpstreamListing = AdminAnswer<'GET /operator/upstreams'>['data'][number]
export type EditedChannel = AdminAnswer<'GET /operator/channels/:channel_id'>

interface ChannelFormProps {
  readonly upstreams: readonly UpstreamListing[]
  /** Absent for a new one. */
  readonly channel?: EditedChannel
  readonly onSaved: (id: string) => void
}

export function ChannelForm({ upstreams, channel, onSaved }: ChannelFormProps) {
  const [id, setId] = useState(channel?.id ?? '')
  const [name, setName] = useState(channel?.upstream ?? upstreams[0]?.name ?? '')
  const upstream = upstreams.find((one) => one.name === name)
  return (
    <Stack gap="sm">
      {channel ? null : <UpstreamSelect upstreams={upstreams} value={name} onChange={setName} />}
      {upstream ? (
        <SettingsForm
          key={upstream.name}
          id={id.trim()}
          upstream={upstream}
          onSaved={onSaved}
          {...(channel ? { channel } : {})}
        >
          {channel ? null : <IdInput id={id} onChange={setId} />}
        </SettingsForm>
      ) : null}
    </Stack>
  )
}

interface SettingsFormProps {
  readonly id: string
  readonly upstream: UpstreamListing
  readonly channel?: EditedChannel
  readonly onSaved: (id: string) => void
  /** Fields above the settings. */
  readonly children: ReactNode
}

/** After a save that is not read again yet, `stored` is the older one. */
function isOlder(opened: EditedChannel | undefined, stored: EditedChannel): boolean {
  if (!opened || opened.version !== stored.version) {
    return opened !== undefined && opened.version < stored.version
  }
  // Retiring one and bringing it back makes no version.
  return opened.status !== stored.status && opened.updated_at < stored.updated_at
}

function SettingsForm({ id, upstream, channel, onSaved, children }: SettingsFormProps) {
  const t = useMessages(messages)
  const fields = listSettingFields(upstream.settings_schema, upstream.secrets)
  const start = (from: EditedChannel | undefined) => ({
    opened: from,
    values: readValues(fields, from?.settings ?? {}),
    isTouched: false,
  })
  const [{ opened, values, isTouched }, setForm] = useState(() => start(channel))
  // What others change meanwhile is shown, unless it would undo what is being typed.
  if (!isTouched && channel && isOlder(opened, channel)) setForm(start(channel))
  const change = useAdminChange('PUT /operator/channels/:channel_id')
  const save = async (settings: Settings) => {
    const body = { upstream: upstream.name, settings }
    const revision = opened?.revision
    const request = { params: { channel_id: id }, body, isNew: !opened, revision }
    const saved = await change.mutateAsync(request)
    // What was typed while the save was under way stays, above what is stored now.
    if (opened) {
      setForm((now) => (now.values === values ? start(saved) : { ...now, opened: saved }))
    }
    notifyDone(t('saved', { id }))
    onSaved(id)
  }
  const labelOf = useSettingLabel()
  const confirmed = useConfirmedSave(save)
  const submit = () => {
    const read = toSettings(fields, values)
    if ('badJson' in read) {
      confirmed.fail(new InvalidField(`settings.${read.badJson}`, t('badJson')))
    } else if (opened) {
      const changes = listSettingChanges(fields, opened.settings, read.settings)
      const named = changes.map((one) => ({ ...one, path: labelOf(one.path) }))
      confirmed.ask(read.settings, named)
    } else confirmed.save(read.settings)
  }
  return (
    <>
      <CheckedForm
        failure={confirmed.failure}
        onSubmit={submit}
        actions={
          <Group justify="flex-end">
            <Button type="submit" loading={confirmed.isBusy}>
              {channel ? t('save') : t('add')}
            </Button>
          </Group>
        }
      >
        {children}
        <SettingInputs
          fields={fields}
          values={values}
          stored={opened?.settings ?? {}}
          onChange={(next) => setForm({ opened, values: next, isTouched: true })}
        />
      </CheckedForm>
      <ChangesDialog title={t('saveTitle', { id })} act={t('save')} {...confirmed.dialog} />
    </>
  )
}
