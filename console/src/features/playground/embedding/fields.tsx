/** Field for the lines to embed. */
import { NumberInput, Textarea } from '@mantine/core'
import { useMessages } from '../../../lib/i18n.tsx'
import type { FieldsProps } from '../frame/capability.ts'
import { messages } from './messages.ts'
import type { EmbeddingValues } from './values.ts'

export function EmbeddingFields({ values, change }: FieldsProps<EmbeddingValues>) {
  const t = useMessages(messages)
  return (
    <>
      <Textarea
        label={t('input')}
        description={t('inputHint')}
        value={values.text}
        onChange={({ currentTarget }) => change({ text: currentTarget.value })}
        autosize
        minRows={4}
        maxRows={12}
      />
      <NumberInput
        label={t('dimensions')}
        placeholder={t('byDefault')}
        value={values.dimensions}
        onChange={(dimensions) => change({ dimensions })}
        min={1}
        allowDecimal={false}
      />
    </>
  )
}
