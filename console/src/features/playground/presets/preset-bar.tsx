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
      <SavePreset
        isOpen={isSaving}
        onClose={() => setSaving(false)}
        onSave={(name) => {
          const { system, draft, temperature, maxTokens } = values
          setOwn(savePreset(localStorage, { name, system, draft, temperature, maxTokens }))
          setChosen(`own:${name}`)
        }}
      />
    </>
  )
}

interface SavePresetProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onSave: (name: string) => void
}

function SavePreset({ isOpen, onClose, onSave }: SavePresetProps) {
  const t = useMessages(messages)
  return (
    <Dialog isOpen={isOpen} title={t('save')} onClose={onClose}>
      <SubmitForm
        act={t('save')}
        onCancel={onClose}
        onSend={async ({ name = '' }) => {
          onSave(name.trim())
          onClose()
          notifyDone(t('saved', { name: name.trim() }))
        }}
      >
        <Text size="sm">{t('saveText')}</Text>
        <TextInput name="name" label={t('name')} required maxLength={60} data-autofocus />
      </SubmitForm>
    </Dialog>
  )
}
