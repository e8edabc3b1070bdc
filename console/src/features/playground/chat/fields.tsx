/** Fields of a chat: parameters and the next message. */
import { Button, Group, NumberInput, Textarea } from '@mantine/core'
import { Icon } from '../../../components/icon.tsx'
import { useMessages } from '../../../lib/i18n.tsx'
import type { FieldsProps } from '../frame/capability.ts'
import { useBinding } from '../frame/fields/bind.ts'
import { Choice } from '../frame/fields/choice.tsx'
import { FieldRow } from '../frame/fields/row.tsx'
import { PresetBar } from '../presets/preset-bar.tsx'
import { messages } from './messages.ts'
import { chosenDialect, dialectsOf } from './to-order.ts'
import type { ChatValues } from './values.ts'

type Props = FieldsProps<ChatValues>

export function ChatFields({ model, values, change }: Props) {
  return (
    <>
      <PresetBar values={values} onChoose={change} />
      <Dialects model={model} values={values} change={change} />
      <ChatSettings values={values} change={change} most={model.limits.max_output_tokens} />
      <NewConversation values={values} change={change} />
    </>
  )
}

interface SettingsProps extends Pick<Props, 'values' | 'change'> {
  /** The output limit of the model, if it is known. */
  readonly most?: number | undefined
}

export function ChatSettings({ values, change, most }: SettingsProps) {
  const t = useMessages(messages)
  const bind = useBinding(messages, { values, change })
  return (
    <>
      <Textarea
        {...bind.text('system')}
        description={t('systemHint')}
        autosize
        minRows={2}
        maxRows={8}
      />
      <FieldRow>
        <NumberInput
          {...bind.value('temperature')}
          placeholder={t('byDefault')}
          min={0}
          max={2}
          step={0.1}
          decimalScale={2}
        />
        <NumberInput
          {...bind.value('maxTokens')}
          placeholder={most === undefined ? t('byDefault') : String(most)}
          min={1}
          {...(most === undefined ? {} : { max: most })}
          step={64}
          allowDecimal={false}
        />
      </FieldRow>
    </>
  )
}

function Dialects({ model, values, change }: Props) {
  const t = useMessages(messages)
  return (
    <Choice
      label={t('dialect')}
      options={dialectsOf(model).map((value) => ({ value, label: t(value) }))}
      value={chosenDialect(model, values)}
      onChange={(dialect) => change({ dialect })}
    />
  )
}

function NewConversation({ values, change }: Pick<Props, 'values' | 'change'>) {
  const t = useMessages(messages)
  if (values.turns.length === 0) return null
  return (
    <Group justify="flex-end">
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<Icon name="plus" size={14} />}
        onClick={() => change({ turns: [] })}
      >
        {t('newConversation')}
      </Button>
    </Group>
  )
}

export function ChatPrompt({ values, change }: Props) {
  const t = useMessages(messages)
  const bind = useBinding(messages, { values, change })
  return (
    <Textarea
      {...bind.text('draft', 'message')}
      placeholder={t('messageHint')}
      onKeyDown={(event) => {
        const isPlain = !event.shiftKey && !event.ctrlKey && !event.metaKey
        // During composition, Enter belongs to the input method.
        if (event.key !== 'Enter' || !isPlain || event.nativeEvent.isComposing) return
        event.preventDefault()
        event.currentTarget.form?.requestSubmit()
      }}
      autosize
      minRows={2}
      maxRows={10}
    />
  )
}
