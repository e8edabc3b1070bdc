/** Starts a form from a preset, and saves the form as one. */
import { Button, Group, Select, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Dialog } from '../../../components/form/dialog.tsx'
import { SubmitForm } from '../../../components/form/submit-form.tsx'
import { notifyDone } from '../../../components/state/notify.ts'
import { useMessages } from '../../../lib/i18n.tsx'
import { messages } from './messages.ts'
import { type PresetValues, readPresets, removePreset, savePreset } from './stored-presets.ts'

const SHIPPED = ['facts', 'summary', 'data', 'code', 'translation'] as const

interface PresetBarProps {
  readonly values: PresetValues
  readonly onChoose: (values: PresetValues) => void
}

export function PresetBar({ values, onChoose }: PresetBarProps) {
  const t = useMessages(messages)
  const [own, setOwn] = useState(() => readPresets(localStorage))
  const [chosen, setChosen] = useState<string | null>(null)
  const [isSaving, setSaving] = useState(false)
  const saved = own.find(({ name }) => `own:${name}` === chosen)
  const choose = (id: string | null) => {
    setChosen(id)
    const shipped = SHIPPED.find((name) => name === id)
    const preset = own.find(({ name }) => `own:${name}` === id)
    if (preset) onChoose(preset)
    if (!shipped) return
    const texts = { system: t(`${shipped}_system`), draft: t(`${shipped}_prompt`) }
    onChoose({ ...texts, temperature: '', maxTokens: '' })
  }
  return (
    <>
      <Select
        label={t('preset')}
        placeholder={t('choose')}
        data={[
          { group: t('shipped'), items: SHIPPED.map((id) => ({ value: id, label: t(id) })) },
          ...(own.length === 0
            ? []
            : [
                {
                  group: t('own'),
                  items: own.map(({ name }) => ({ value: `own:${name}`, label: name })),
                },
              ]),
        ]}
        value={chosen}
        onChange={choose}
      />
      <Group gap="xs">
        <Button size="compact-sm" variant="default" onClick={() => setSaving(true)}>
          {t('save')}
        </Button>
        {saved ? (
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => {
              setOwn(removePreset(localStorage, saved.name))
              setChosen(null)
              notifyDone(t('removed', { name: saved.name }))
            }}
          >
            {t('remove')}
          </Button>
        ) : null}
      </Group>
      <Dialog isOpen={isSaving} title={t('save')} onClose={() => setSaving(false)}>
        <SubmitForm
          act={t('save')}
          onCancel={() => setSaving(false)}
          onSend={async ({ name = '' }) => {
            const { system, draft, temperature, maxTokens } = values
            const preset = { name: name.trim(), system, draft, temperature, maxTokens }
            setOwn(savePreset(localStorage, preset))
            setChosen(`own:${preset.name}`)
            setSaving(false)
            notifyDone(t('saved', { name: preset.name }))
          }}
        >
          <Text size="sm">{t('saveText')}</Text>
          <TextInput name="name" label={t('name')} required maxLength={60} data-autofocus />
        </SubmitForm>
      </Dialog>
    </>
  )
}
