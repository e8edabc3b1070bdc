/** Fields of an interpretation: the recording and the languages. */
import { Select, TextInput } from '@mantine/core'
import { useLanguage, useMessages } from '../../../lib/i18n.tsx'
import type { FieldsProps } from '../frame/capability.ts'
import { useBinding } from '../frame/fields/bind.ts'
import { Choice } from '../frame/fields/choice.tsx'
import { FieldRow } from '../frame/fields/row.tsx'
import { SoundInput } from '../sound/sound-input.tsx'
import { messages } from './messages.ts'
import type { InterpretationValues } from './values.ts'

const LANGUAGES = [
  'zh',
  'en',
  'ja',
  'de',
  'fr',
  'es',
  'pt',
  'id',
  'ko',
  'ru',
  'it',
  'ar',
  'th',
  'vi',
  'tr',
  'ms',
  'nl',
  'pl',
  'ro',
  'cs',
]
/** Source languages only. */
const DIALECTS = ['yue-CN', 'sh-CN']

export function InterpretationFields({ values, change }: FieldsProps<InterpretationValues>) {
  const t = useMessages(messages)
  const bind = useBinding(messages, { values, change })
  const { language } = useLanguage()
  const names = new Intl.DisplayNames(language, { type: 'language' })
  const listOf = (codes: readonly string[], empty: string) => [
    { value: '', label: empty },
    ...codes.map((value) => ({ value, label: names.of(value) ?? value })),
  ]
  const isFree = values.source === '' && values.target === ''
  return (
    <>
      <SoundInput file={values.file} onChange={(file) => change({ file })} converts />
      <Choice
        label={t('mode')}
        options={(['s2t', 's2s'] as const).map((value) => ({ value, label: t(value) }))}
        value={values.mode}
        onChange={(mode) => change({ mode })}
      />
      <FieldRow>
        <Select
          {...bind.choice('source')}
          data={listOf([...LANGUAGES, ...DIALECTS], isFree ? t('auto') : t('bySource'))}
        />
        <Select
          {...bind.choice('target')}
          data={listOf(LANGUAGES, isFree ? t('auto') : t('bySource'))}
        />
      </FieldRow>
      {values.mode === 's2s' ? (
        <TextInput {...bind.text('voice')} description={t('voiceHint')} />
      ) : null}
    </>
  )
}
