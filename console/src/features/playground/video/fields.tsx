/** Fields of a video request, with every setting that its models support. */
import { NumberInput, Select, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { useMessages } from '../../../lib/i18n.tsx'
import type { FieldsProps } from '../frame/capability.ts'
import { useBinding } from '../frame/fields/bind.ts'
import { Disclosure } from '../frame/fields/disclosure.tsx'
import { FieldRow } from '../frame/fields/row.tsx'
import { messages } from './messages.ts'
import { References } from './references.tsx'
import { rangeOf, takes, textsOf } from './taken.ts'
import type { VideoValues } from './values.ts'

type Props = FieldsProps<VideoValues>

const RESOLUTIONS = ['480p', '720p', '1080p', '4k', '768P', '2K']
const RATIOS = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive']
const SEED_MAX = 2 ** 32 - 1
const SECONDS_MAX = 60

export function VideoFields(props: Props) {
  const t = useMessages(messages)
  const bind = useBinding(messages, props)
  const { values, change } = props
  return (
    <>
      <Textarea {...bind.text('prompt')} autosize minRows={3} maxRows={12} />
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

function Shape({ model, values, change }: Props) {
  const t = useMessages(messages)
  const bind = useBinding(messages, { values, change })
  const auto = { value: '', label: t('auto') }
  const resolutions = textsOf(model, 'resolution') ?? RESOLUTIONS
  const ratios = textsOf(model, 'ratio') ?? RATIOS
  const { min = -1, max = SECONDS_MAX } = rangeOf(model, 'duration')
  return (
    <FieldRow cols={3}>
      <Select {...bind.choice('resolution')} data={[auto, ...resolutions]} />
      <Select {...bind.choice('ratio')} data={[auto, ...ratios]} />
      <NumberInput
        {...bind.value('duration')}
        title={t('durationHint')}
        min={min}
        max={max}
        allowDecimal={false}
      />
    </FieldRow>
  )
}

function MoreFields({ model, values, change }: Props) {
  const t = useMessages(messages)
  const bind = useBinding(messages, { values, change })
  return (
    <Stack gap="sm">
      <FieldRow>
        {takes(model, 'seed') ? (
          <NumberInput
            {...bind.value('seed')}
            placeholder={t('random')}
            min={-1}
            max={SEED_MAX}
            allowDecimal={false}
          />
        ) : null}
        {takes(model, 'service_tier') ? (
          <Select
            {...bind.choice('tier')}
            data={[
              { value: '', label: t('auto') },
              { value: 'default', label: t('default') },
              { value: 'flex', label: t('flex') },
            ]}
          />
        ) : null}
      </FieldRow>
      <FieldRow>
        {takes(model, 'generate_audio') ? <Switch {...bind.toggle('hasSound', 'sound')} /> : null}
        {takes(model, 'return_last_frame') ? (
          <Switch {...bind.toggle('hasLastFrame', 'lastFrame')} />
        ) : null}
        {takes(model, 'camera_fixed') ? <Switch {...bind.toggle('isStill', 'camera')} /> : null}
        {takes(model, 'watermark') ? (
          <Switch {...bind.toggle('hasWatermark', 'watermark')} />
        ) : null}
      </FieldRow>
      <TextInput
        {...bind.text('callback')}
        description={t('callbackHint')}
        placeholder="https://"
      />
      <TextInput {...bind.text('endUser', 'end')} description={t('endHint')} maxLength={64} />
    </Stack>
  )
}
