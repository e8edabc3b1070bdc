/** The conditions of a price: facts of a call, each with its values or a range. */
import { Autocomplete, Group, TextInput } from '@mantine/core'
import { useMessages } from '../../../lib/i18n.tsx'
import { useFieldError } from '../checked-form.tsx'
import { type ConditionDraft, FACTS, NEW_CONDITION, takesRange } from './conditions.ts'
import { messages } from './messages.ts'
import { AddRow, RemoveRow } from './row-buttons.tsx'

interface ConditionFieldsProps {
  /** The server's name of the condition, for example `prices[0].when`. */
  readonly param: string
  readonly rows: readonly ConditionDraft[]
  readonly onChange: (rows: readonly ConditionDraft[]) => void
}

export function ConditionFields({ param, rows, onChange }: ConditionFieldsProps) {
  const t = useMessages(messages)
  return (
    <>
      {rows.map((row, index) => (
        <ConditionRow
          // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place while it is edited
          key={index}
          param={param}
          row={row}
          onChange={(change) =>
            onChange(rows.map((one, at) => (at === index ? { ...one, ...change } : one)))
          }
          onRemove={() => onChange(rows.filter((_, at) => at !== index))}
        />
      ))}
      <AddRow label={t('addCondition')} onAdd={() => onChange([...rows, NEW_CONDITION])} />
    </>
  )
}

interface ConditionRowProps {
  readonly param: string
  readonly row: ConditionDraft
  readonly onChange: (change: Partial<ConditionDraft>) => void
  readonly onRemove: () => void
}

function ConditionRow({ param, row, onChange, onRemove }: ConditionRowProps) {
  const t = useMessages(messages)
  const error = useFieldError(param)
  return (
    <Group gap={6} align="flex-end" w="100%" pl="md">
      <Autocomplete
        label={t('when')}
        size="xs"
        w={150}
        data={Object.keys(FACTS)}
        error={error}
        value={row.fact}
        onChange={(fact) => onChange({ ...NEW_CONDITION, fact })}
      />
      {takesRange(row) ? (
        <>
          <Part
            label={t('whenMin')}
            width={90}
            value={row.min}
            onChange={(min) => onChange({ min })}
          />
          <Part
            label={t('whenBelow')}
            width={90}
            value={row.below}
            onChange={(below) => onChange({ below })}
          />
        </>
      ) : (
        <Part
          label={t('whenValues')}
          width={186}
          placeholder={FACTS[row.fact.trim()] ?? ''}
          value={row.values}
          onChange={(values) => onChange({ values })}
        />
      )}
      <RemoveRow onRemove={onRemove} />
    </Group>
  )
}

interface PartProps {
  readonly label: string
  readonly width: number
  readonly placeholder?: string
  readonly value: string
  readonly onChange: (value: string) => void
}

function Part({ label, width, placeholder = '', value, onChange }: PartProps) {
  return (
    <TextInput
      label={label}
      size="xs"
      w={width}
      placeholder={placeholder}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}
