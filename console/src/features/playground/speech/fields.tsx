/** Fields of a speech request: text, voice and style. */
import { Autocomplete, NumberInput, Select, Switch, Textarea, TextInput } from '@mantine/core'
import { useMessages } from '../../../lib/i18n.tsx'
import type { FieldsProps } from '../frame/capability.ts'
import { useBinding } from '../frame/fields/bind.ts'
import { Choice } from '../frame/fields/choice.tsx'
import { FieldRow } from '../frame/fields/row.tsx'
import { messages } from './messages.ts'
import {
  chosenFormat,
  formatsOf,
  NATIVE,
  pathsOf,
  type SpeechValues,
  speechPath,
  voicesOf,
} from './values.ts'

type Props = FieldsProps<SpeechValues>

const FACTOR = { min: 0.5, max: 2, step: 0.1, decimalScale: 2 } as const

export function SpeechFields({ model, values, change }: Props) {
  const t = useMessages(messages)
  const bind = useBinding(messages, { values, change })
  const path = speechPath(model, values)
  return (
    <>
      <Paths model={model} values={values} change={change} />
      <Textarea
        {...bind.text('text')}
        description={t('characters', { count: [...values.text].length })}
        autosize
        minRows={3}
        maxRows={12}
      />
      <Autocomplete
        {...bind.value('voice')}
        description={t('voiceHint')}
        placeholder={voicesOf(model)[0] ?? ''}
        data={[...voicesOf(model)]}
      />
      <TextInput {...bind.text('context')} placeholder={t('contextHint')} />
      <FieldRow cols={3}>
        <Select
          label={t('format')}
          data={[...formatsOf(path)]}
          value={chosenFormat(path, values)}
          onChange={(format) => change({ format: format ?? 'mp3' })}
          allowDeselect={false}
        />
        <NumberInput {...bind.value('speed')} {...FACTOR} />
        {path === NATIVE ? <NumberInput {...bind.value('loudness', 'volume')} {...FACTOR} /> : null}
      </FieldRow>
      {path === NATIVE ? <Switch {...bind.toggle('hasTimes', 'subtitles')} /> : null}
    </>
  )
}

function Paths({ model, values, change }: Props) {
  const t = useMessages(messages)
  const paths = pathsOf(model)
  if (paths.length < 2) return null
  return (
    <Choice
      label={t('dialect')}
      options={paths.map((value) => ({
        value,
        label: value === NATIVE ? t('native') : t('openai'),
      }))}
      value={speechPath(model, values)}
      onChange={(path) => change({ path })}
    />
  )
}
