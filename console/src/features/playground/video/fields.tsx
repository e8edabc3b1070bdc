/** Fields of a video request, with every setting that its models support. */
import { NumberInput, Select, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { useMessages } from '../../../lib/i18n.tsx'
import type { FieldsProps } from '../frame/capability.ts'
import { Disclosure } from '../frame/fields/disclosure.tsx'
import { FieldRow } from '../frame/fields/row.tsx'
import { messages } from './messages.ts'
import { References } from './references.tsx'
import type { VideoValues } from './values.ts'

type Props = FieldsProps<VideoValues>

const RESOLUTIONS = ['480p', '720p', '1080p', '4k', '768P', '2K']
const RATIOS = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive']
const SEED_MAX = 2 ** 32 - 1
const SECONDS_MAX = 60

export function VideoFields(props: Props) {
  const t = useMessages(messages)
  const { values, change } = props
  return (
    <>
      <Textarea
        label={t('prompt')}
        value={values.prompt}
        onChange={({ currentTarget }) => change({ prompt: currentTarget.value })}
        autosize
        minRows={3}
        maxRows={12}
      />
      <References
        references={values.references}
        onChange={(references) => change({ references })}
      />
      <Shape {...props} />
      <Disclosure label={t('more')}>
        <MoreFields {...props} />
      </Disclosure>
    </>
  )
}

function Shape({ values, change }: Props) {
  const t = useMessages(messages)
  const auto = { value: '', label: t('auto') }
  return (
    <FieldRow cols={3}>
      <Select
        label={t('resolution')}
        data={[auto, ...RESOLUTIONS]}
        value={values.resolution}
        onChange={(resolution) => change({ resolution: resolution ?? '' })}
        allowDeselect={false}
      />
      <Select
        label={t('ratio')}
        data={[auto, ...RATIOS]}
        value={values.ratio}
        onChange={(ratio) => change({ ratio: ratio ?? '' })}
        allowDeselect={false}
      />
      <NumberInput
        label={t('duration')}
        title={t('durationHint')}
        value={values.duration}
        onChange={(duration) => change({ duration })}
        min={-1}
        max={SECONDS_MAX}
        allowDecimal={false}
      />
    </FieldRow>
  )
}

function MoreFields({ values, change }: Props) {
  const t = useMessages(messages)
  return (
    <Stack gap="sm">
      <FieldRow>
        <NumberInput
          label={t('seed')}
          placeholder={t('random')}
          value={values.seed}
          onChange={(seed) => change({ seed })}
          min={-1}
          max={SEED_MAX}
          allowDecimal={false}
        />
        <Select
          label={t('tier')}
          data={[
            { value: '', label: t('auto') },
            { value: 'default', label: t('default') },
            { value: 'flex', label: t('flex') },
          ]}
          value={values.tier}
          onChange={(tier) => change({ tier: tier ?? '' })}
          allowDeselect={false}
        />
      </FieldRow>
      <FieldRow>
        <Choice name="hasSound" label={t('sound')} values={values} change={change} />
        <Choice name="hasLastFrame" label={t('lastFrame')} values={values} change={change} />
        <Choice name="isStill" label={t('camera')} values={values} change={change} />
        <Choice name="hasWatermark" label={t('watermark')} values={values} change={change} />
      </FieldRow>
      <TextInput
        label={t('callback')}
        description={t('callbackHint')}
        placeholder="https://"
        value={values.callback}
        onChange={({ currentTarget }) => change({ callback: currentTarget.value })}
      />
      <TextInput
        label={t('end')}
        description={t('endHint')}
        maxLength={64}
        value={values.endUser}
        onChange={({ currentTarget }) => change({ endUser: currentTarget.value })}
      />
    </Stack>
  )
}

interface ChoiceProps extends Omit<Props, 'model'> {
  readonly name: 'hasSound' | 'hasLastFrame' | 'isStill' | 'hasWatermark'
  readonly label: string
}

function Choice({ name, label, values, change }: ChoiceProps) {
  return (
    <Switch
      label={label}
      checked={values[name]}
      onChange={({ currentTarget }) => change({ [name]: currentTarget.checked })}
    />
  )
}
