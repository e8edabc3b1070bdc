/** Fields of an interpretation: the recording and the languages. */
import { Select, TextInput } from '@mantine/core'
import { useLanguage, useMessages } from '../../../lib/i18n.tsx'
import type { FieldsProps } from '../frame/capability.ts'
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
          label={t('source')}
          data={listOf([...LANGUAGES, ...DIALECTS], isFree ? t('auto') : t('bySource'))}
          value={values.source}
          onChange={(source) => change({ source: source ?? '' })}
          allowDeselect={false}
        />
        <Select
          label={t('target')}
          data={listOf(LANGUAGES, isFree ? t('auto') : t('bySource'))}
          value={values.target}
          onChange={(target) => change({ target: target ?? '' })}
          allowDeselect={false}
        />
      </FieldRow>
      {values.mode === 's2s' ? (
        <TextInput
          label={t('voice')}
          description={t('voiceHint')}
          value={values.voice}
          onChange={({ currentTarget }) => change({ voice: currentTarget.value })}
        />
      ) : null}
    </>
  )
}
