/** Fields of an image request: prompt, count and response format. */
import { Autocomplete, NumberInput, Select, Textarea } from '@mantine/core'
import { useMessages } from '../../../lib/i18n.tsx'
import type { FieldsProps } from '../frame/capability.ts'
import { useBinding } from '../frame/fields/bind.ts'
import { Choice } from '../frame/fields/choice.tsx'
import { FieldRow } from '../frame/fields/row.tsx'
import { messages } from './messages.ts'
import { AS_TASK, AT_ONCE, type ImageValues, imagePath } from './values.ts'

const SIZES = ['1024x1024', '1536x1024', '1024x1536', '1K', '2K', '4K', 'auto']
const QUALITIES = ['low', 'medium', 'high', 'standard', 'hd', 'auto']
const COUNT_MAX = 15

export function ImageFields({ model, values, change }: FieldsProps<ImageValues>) {
  const t = useMessages(messages)
  const bind = useBinding(messages, { values, change })
  const path = imagePath(model, values)
  const fieldOf = (name: string) => model.fields?.find((field) => field.name === name)
  const sizes = fieldOf('size')?.values?.map(String) ?? SIZES
  const most = fieldOf('n')?.max ?? COUNT_MAX
  return (
    <>
      <Textarea {...bind.text('prompt')} autosize minRows={3} maxRows={12} />
      <DeliveryChoice model={model} values={values} change={change} />
      <FieldRow>
        <NumberInput {...bind.value('count')} min={1} max={most} allowDecimal={false} />
        <Autocomplete {...bind.value('size')} placeholder={t('sizeHint')} data={sizes} />
        <Autocomplete {...bind.value('quality')} placeholder={t('auto')} data={QUALITIES} />
        {path === AT_ONCE ? (
          <Select
            {...bind.choice('format')}
            data={[
              { value: '', label: t('auto') },
              { value: 'b64_json', label: t('bytes') },
              { value: 'url', label: t('link') },
            ]}
          />
        ) : null}
      </FieldRow>
    </>
  )
}

function DeliveryChoice({ model, values, change }: FieldsProps<ImageValues>) {
  const t = useMessages(messages)
  return (
    <Choice
      label={t('mode')}
      options={[
        { value: AT_ONCE, label: t('now') },
        { value: AS_TASK, label: t('asTask'), disabled: !model.endpoints.includes(AS_TASK) },
      ]}
      value={imagePath(model, values)}
      onChange={(path) => change({ path })}
    />
  )
}
