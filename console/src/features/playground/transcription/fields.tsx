/** Fields of a transcription: the recording and the format. */
import { Select, TextInput } from '@mantine/core'
import { useMessages } from '../../../lib/i18n.tsx'
import type { FieldsProps } from '../frame/capability.ts'
import { useBinding } from '../frame/fields/bind.ts'
import { FieldRow } from '../frame/fields/row.tsx'
import { SoundInput } from '../sound/sound-input.tsx'
import { messages } from './messages.ts'
import type { TranscriptionValues } from './values.ts'

const FORMATS = ['json', 'verbose_json', 'srt', 'vtt'] as const

export function TranscriptionFields({ values, change }: FieldsProps<TranscriptionValues>) {
  const t = useMessages(messages)
  const bind = useBinding(messages, { values, change })
  return (
    <>
      <SoundInput file={values.file} onChange={(file) => change({ file })} converts={false} />
      <FieldRow>
        <TextInput {...bind.text('language')} title={t('languageHint')} placeholder="en" />
        <Select
          label={t('format')}
          data={FORMATS.map((value) => ({ value, label: t(value) }))}
          value={values.format}
          onChange={(format) => change({ format: format ?? 'json' })}
          allowDeselect={false}
        />
      </FieldRow>
      <TextInput {...bind.text('prompt')} />
    </>
  )
}
