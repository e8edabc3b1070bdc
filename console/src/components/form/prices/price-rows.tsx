/** Form rows for prices, which can be added and removed. */
import { Select, Stack, Text, TextInput } from '@mantine/core'
import { memo } from 'react'
import { UNITS } from '../../../../../server/base/lib/units.ts'
import { useStable } from '../../../lib/hooks/use-stable.ts'
import { useMessages } from '../../../lib/i18n.tsx'
import { CheckedRow } from '../../fields/checked-row.tsx'
import { usePriceWords } from '../../prices/price-words.ts'
import { useFieldError } from '../checked-form.tsx'
import { ConditionFields } from './condition-fields.tsx'
import { toConditions } from './conditions.ts'
import { messages } from './messages.ts'
import { NEW_PRICE, type PriceDraft } from './price-draft.ts'
import { AddRow, RemoveRow } from './row-buttons.tsx'

export function replaceAt<Item>(items: readonly Item[], index: number, item: Item): Item[] {
  return items.map((one, at) => (at === index ? item : one))
}

export interface RowsProps<Row> {
  readonly rows: readonly Row[]
  readonly onChange: (rows: readonly Row[]) => void
}

interface PriceRowsProps extends RowsProps<PriceDraft> {
  /** The server's name of the list, for example `routes[0].costs`. */
  readonly param: string
  readonly title: string
  /** Label of the button that adds a row. */
  readonly act: string
}

/** Prices, or the costs of a route. */
export function PriceRows({ param, title, act, rows, onChange }: PriceRowsProps) {
  const set = useStable((index: number, row: PriceDraft) => onChange(replaceAt(rows, index, row)))
  const remove = useStable((index: number) => onChange(rows.filter((_, at) => at !== index)))
  return (
    <Stack gap="xs">
      <Text fw={600} size="sm">
        {title}
      </Text>
      {rows.map((row, index) => (
        <PriceRow
          // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place while it is edited
          key={index}
          param={`${param}[${index}]`}
          index={index}
          row={row}
          set={set}
          remove={remove}
        />
      ))}
      <AddRow label={act} onAdd={() => onChange([...rows, NEW_PRICE])} />
    </Stack>
  )
}

interface PriceRowProps {
  readonly param: string
  readonly index: number
  readonly row: PriceDraft
  readonly set: (index: number, row: PriceDraft) => void
  readonly remove: (index: number) => void
}

/** A model has up to two hundred: typing in one renders no other. */
const PriceRow = memo(function PriceRow({ param, index, row, set, remove }: PriceRowProps) {
  const t = useMessages(messages)
  const onChange = (change: Partial<PriceDraft>) => set(index, { ...row, ...change })
  const words = usePriceWords()
  const { unit, amount, per, when } = row
  const conditions = toConditions(when)
  return (
    <CheckedRow
      fields={[
        { param: `${param}.unit`, label: t('unit') },
        { param: `${param}.amount`, label: t('amount') },
        { param: `${param}.per`, label: t('per') },
        { param: `${param}.when`, label: t('when') },
      ]}
      gap={6}
    >
      <Select
        label={t('unit')}
        size="xs"
        w={190}
        data={UNITS.map((value) => ({ value, label: words.units(value) }))}
        searchable
        allowDeselect={false}
        error={useFieldError(`${param}.unit`)}
        value={unit}
        onChange={(chosen) => onChange({ unit: chosen ?? unit })}
      />
      <SmallField
        param={`${param}.amount`}
        label={t('amount')}
        value={amount}
        onChange={(text) => onChange({ amount: text })}
      />
      <SmallField
        param={`${param}.per`}
        label={t('per')}
        value={per}
        onChange={(text) => onChange({ per: text })}
      />
      <RemoveRow onRemove={() => remove(index)} />
      <ConditionFields
        param={`${param}.when`}
        rows={when}
        onChange={(rows) => onChange({ when: rows })}
      />
      {Number(per) > 0 ? (
        <Text size="xs" c="dimmed" w="100%">
          {amount} {words.per(Number(per), unit)}
          {conditions ? ` · ${words.when(conditions)}` : null}
        </Text>
      ) : null}
    </CheckedRow>
  )
})

interface SmallFieldProps {
  readonly param: string
  readonly label: string
  readonly value: string
  readonly width?: number
  /** Text at the end of the input. */
  readonly suffix?: string
  readonly onChange: (value: string) => void
}

export function SmallField(props: SmallFieldProps) {
  const { param, label, value, width = 90, suffix, onChange } = props
  return (
    <TextInput
      label={label}
      size="xs"
      w={width}
      {...(suffix
        ? {
            rightSection: (
              <Text size="xs" c="dimmed">
                {suffix}
              </Text>
            ),
            rightSectionWidth: 58,
          }
        : {})}
      error={useFieldError(param)}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}
