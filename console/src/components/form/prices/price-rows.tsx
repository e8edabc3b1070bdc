/** Form rows for prices, which can be added and removed. */
import { Select, Stack, Text, TextInput } from '@mantine/core'
import { UNITS } from '../../../../../server/base/lib/units.ts'
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
          row={row}
          onChange={(change) => onChange(replaceAt(rows, index, { ...row, ...change }))}
          onRemove={() => onChange(rows.filter((_, at) => at !== index))}
        />
      ))}
      <AddRow label={act} onAdd={() => onChange([...rows, NEW_PRICE])} />
    </Stack>
  )
}

interface PriceRowProps {
  readonly param: string
  readonly row: PriceDraft
  readonly onChange: (change: Partial<PriceDraft>) => void
  readonly onRemove: () => void
}

function PriceRow({ param, row, onChange, onRemove }: PriceRowProps) {
  const t = useMessages(messages)
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
      <RemoveRow onRemove={onRemove} />
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
}

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
