/** Fields of a speech request: text, voice and style. */
import { Autocomplete, NumberInput, Select, Switch, Textarea, TextInput } from '@mantine/core'
import { useMessages } from '../../../lib/i18n.tsx'
import type { FieldsProps } from '../frame/capability.ts'
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

export function SpeechFields({ model, values, change }: Props) {
  const t = useMessages(messages)
  const path = speechPath(model, values)
  return (
    <>
      <Paths model={model} values={values} change={change} />
      <Textarea
        label={t('text')}
        description={t('characters', { count: [...values.text].length })}
        value={values.text}
        onChange={({ currentTarget }) => change({ text: currentTarget.value })}
        autosize
        minRows={3}
        maxRows={12}
      />
      <Autocomplete
        label={t('voice')}
        description={t('voiceHint')}
        placeholder={voicesOf(model)[0] ?? ''}
        data={[...voicesOf(model)]}
        value={values.voice}
        onChange={(voice) => change({ voice })}
      />
      <TextInput
        label={t('context')}
        placeholder={t('contextHint')}
        value={values.context}
        onChange={({ currentTarget }) => change({ context: currentTarget.value })}
      />
      <FieldRow cols={3}>
        <Select
          label={t('format')}
          data={[...formatsOf(path)]}
          value={chosenFormat(path, values)}
          onChange={(format) => change({ format: format ?? 'mp3' })}
          allowDeselect={false}
        />
        <Factor label={t('speed')} value={values.speed} onChange={(speed) => change({ speed })} />
        {path === NATIVE ? (
          <Factor
            label={t('volume')}
            value={values.loudness}
            onChange={(loudness) => change({ loudness })}
          />
        ) : null}
      </FieldRow>
      {path === NATIVE ? (
        <Switch
          label={t('subtitles')}
          checked={values.hasTimes}
          onChange={({ currentTarget }) => change({ hasTimes: currentTarget.checked })}
        />
      ) : null}
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

interface FactorProps {
  readonly label: string
  readonly value: number | string
  readonly onChange: (value: number | string) => void
}

function Factor({ label, value, onChange }: FactorProps) {
  return (
    <NumberInput
      label={label}
      value={value}
      onChange={onChange}
      min={0.5}
      max={2}
      step={0.1}
      decimalScale={2}
    />
  )
}
