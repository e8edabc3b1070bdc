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
import { useBinding } from '../frame/fields/bind.ts'
import { FieldRow } from '../frame/fields/row.tsx'
import { UploadField } from '../frame/upload/upload.tsx'
import { messages } from './messages.ts'
import { choosesFeatures, FEATURES, type Feature, type MinutesValues } from './values.ts'

type Props = FieldsProps<MinutesValues>

const LANGUAGES = ['zh_cn', 'en_us'] as const
const SPEAKERS_MAX = 100

export function MinutesFields(props: Props) {
  const t = useMessages(messages)
  const bind = useBinding(messages, props)
  const { model, values, change } = props
  return (
    <>
      <Stack gap={6}>
        <TextInput {...bind.text('url')} description={t('urlHint')} placeholder="https://" />
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
          {...bind.value('speakers')}
          title={t('speakersHint')}
          min={0}
          max={SPEAKERS_MAX}
          allowDecimal={false}
        />
      </FieldRow>
      <TextInput {...bind.text('hotWords', 'words')} placeholder={t('wordsHint')} />
      <Switch {...bind.toggle('hasWordTimes', 'wordTimes')} />
    </>
  )
}

function Features({ values, change }: Props) {
  const t = useMessages(messages)
  const bind = useBinding(messages, { values, change })
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
      <Switch {...bind.toggle('identifiesSpeakers', 'identify')} />
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
