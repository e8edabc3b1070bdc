/** Field for the lines to embed. */
import { NumberInput, Textarea } from '@mantine/core'
import { useMessages } from '../../../lib/i18n.tsx'
import type { FieldsProps } from '../frame/capability.ts'
import { useBinding } from '../frame/fields/bind.ts'
import { messages } from './messages.ts'
import type { EmbeddingValues } from './values.ts'

export function EmbeddingFields({ values, change }: FieldsProps<EmbeddingValues>) {
  const t = useMessages(messages)
  const bind = useBinding(messages, { values, change })
  return (
    <>
      <Textarea
        {...bind.text('text', 'input')}
        description={t('inputHint')}
        autosize
        minRows={4}
        maxRows={12}
      />
      <NumberInput
        {...bind.value('dimensions')}
        placeholder={t('byDefault')}
        min={1}
        allowDecimal={false}
      />
    </>
  )
}
