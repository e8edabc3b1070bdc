/** Fields of minutes: the recording and the features. */
import {
  Chip,
  Group,
  Input,
  NumberInput,
  Select,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core'
import { useMessages } from '../../../lib/i18n.tsx'
import type { FieldsProps } from '../frame/capability.ts'
import { FieldRow } from '../frame/fields/row.tsx'
import { UploadField } from '../frame/upload/upload.tsx'
import { messages } from './messages.ts'
import { choosesFeatures, FEATURES, type Feature, type MinutesValues } from './values.ts'

type Props = FieldsProps<MinutesValues>

const LANGUAGES = ['zh_cn', 'en_us'] as const
const SPEAKERS_MAX = 100

export function MinutesFields(props: Props) {
  const t = useMessages(messages)
  const { model, values, change } = props
  return (
    <>
      <Stack gap={6}>
        <TextInput
          label={t('url')}
          description={t('urlHint')}
          placeholder="https://"
          value={values.url}
          onChange={({ currentTarget }) => change({ url: currentTarget.value })}
        />
        <UploadField
          label={t('upload')}
          accept="audio/*,video/*"
          onDone={(file) => change({ url: file.url })}
        />
      </Stack>
      {choosesFeatures(model) ? (
        <Features {...props} />
      ) : (
        <Text size="xs" c="dimmed">
          {t('always')}
        </Text>
      )}
      <FieldRow>
        <LanguageSelect
          label={t('language')}
          value={values.language}
          onChange={(language) => change({ language })}
        />
        <NumberInput
          label={t('speakers')}
          title={t('speakersHint')}
          value={values.speakers}
          onChange={(speakers) => change({ speakers })}
          min={0}
          max={SPEAKERS_MAX}
          allowDecimal={false}
        />
      </FieldRow>
      <TextInput
        label={t('words')}
        placeholder={t('wordsHint')}
        value={values.hotWords}
        onChange={({ currentTarget }) => change({ hotWords: currentTarget.value })}
      />
      <Switch
        label={t('wordTimes')}
        checked={values.hasWordTimes}
        onChange={({ currentTarget }) => change({ hasWordTimes: currentTarget.checked })}
      />
    </>
  )
}

function Features({ values, change }: Props) {
  const t = useMessages(messages)
  const choose = (chosen: readonly string[]) => {
    change({ features: FEATURES.filter((name): name is Feature => chosen.includes(name)) })
  }
  return (
    <>
      <Stack gap={6} role="group" aria-labelledby="minutes-features">
        <Input.Label labelElement="div" id="minutes-features">
          {t('features')}
        </Input.Label>
        <Chip.Group multiple value={[...values.features]} onChange={choose}>
          <Group gap={6}>
            {FEATURES.map((name) => (
              <Chip key={name} value={name} size="xs">
                {t(name)}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      </Stack>
      {values.features.includes('translate') ? (
        <LanguageSelect
          label={t('target')}
          value={values.target}
          onChange={(target) => change({ target })}
        />
      ) : null}
      <Switch
        label={t('identify')}
        checked={values.identifiesSpeakers}
        onChange={({ currentTarget }) => change({ identifiesSpeakers: currentTarget.checked })}
      />
    </>
  )
}

interface LanguageSelectProps {
  readonly label: string
  readonly value: MinutesValues['language']
  readonly onChange: (value: MinutesValues['language']) => void
}

function LanguageSelect({ label, value, onChange }: LanguageSelectProps) {
  const t = useMessages(messages)
  return (
    <Select
      label={label}
      data={LANGUAGES.map((one) => ({ value: one, label: t(one) }))}
      value={value}
      onChange={(chosen) => onChange(LANGUAGES.find((one) => one === chosen) ?? value)}
      allowDeselect={false}
    />
  )
}
