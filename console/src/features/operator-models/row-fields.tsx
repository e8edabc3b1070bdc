/** Form rows for prices and routes, which can be added and removed. */
import { ActionIcon, Box, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { UNITS } from '../../../../server/base/lib/units.ts'
import { CheckedRow } from '../../components/fields/checked-row.tsx'
import { useFieldError } from '../../components/form/checked-form.tsx'
import { Icon } from '../../components/icon.tsx'
import { usePriceWords } from '../../components/prices/price-words.ts'
import { formatShare } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { ConditionFields } from './condition-fields.tsx'
import { toConditions } from './conditions.ts'
import { NEW_PRICE, NEW_ROUTE, type PriceDraft, type RouteDraft } from './draft.ts'
import { messages } from './messages.ts'
import { shareRoutes } from './route-shares.ts'

function replaceAt<Item>(items: readonly Item[], index: number, item: Item): Item[] {
  return items.map((one, at) => (at === index ? item : one))
}

interface RowsProps<Row> {
  readonly rows: readonly Row[]
  readonly onChange: (rows: readonly Row[]) => void
}

function RemoveRow({ onRemove }: { readonly onRemove: () => void }) {
  const t = useMessages(messages)
  return (
    <ActionIcon variant="subtle" color="gray" aria-label={t('remove')} onClick={onRemove} mb={2}>
      <Icon name="trash" size={15} />
    </ActionIcon>
  )
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
      <Field
        param={`${param}.amount`}
        label={t('amount')}
        value={amount}
        onChange={(text) => onChange({ amount: text })}
      />
      <Field
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

interface RouteRowsProps extends RowsProps<RouteDraft> {
  readonly channels: readonly string[]
}

export function RouteRows({ rows, channels, onChange }: RouteRowsProps) {
  const t = useMessages(messages)
  const shares = shareRoutes(rows)
  return (
    <Stack gap="xs">
      <Text fw={600} size="sm">
        {t('routes')}
      </Text>
      {rows.map((row, index) => (
        <RouteRow
          // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place while it is edited
          key={index}
          param={`routes[${index}]`}
          row={row}
          share={shares[index] ?? 0}
          channels={channels}
          onChange={(change) => onChange(replaceAt(rows, index, { ...row, ...change }))}
          onRemove={() => onChange(rows.filter((_, at) => at !== index))}
        />
      ))}
      <AddRow label={t('addRoute')} onAdd={() => onChange([...rows, NEW_ROUTE])} />
    </Stack>
  )
}

interface RouteRowProps {
  readonly param: string
  readonly row: RouteDraft
  /** Of the calls that reach its priority, from 0 to 1. */
  readonly share: number
  readonly channels: readonly string[]
  readonly onChange: (change: Partial<RouteDraft>) => void
  readonly onRemove: () => void
}

function RouteRow({ param, row, share, channels, onChange, onRemove }: RouteRowProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  return (
    <Stack gap={6}>
      <CheckedRow
        fields={[
          { param: `${param}.channel`, label: t('channel') },
          { param: `${param}.upstream_model`, label: t('upstreamModel') },
          { param: `${param}.priority`, label: t('priority') },
          { param: `${param}.weight`, label: t('weight') },
        ]}
        gap={6}
      >
        <Select
          label={t('channel')}
          size="xs"
          w={150}
          data={[...channels]}
          searchable
          required
          error={useFieldError(`${param}.channel`)}
          value={row.channel || null}
          onChange={(channel) => onChange({ channel: channel ?? '' })}
        />
        <Field
          param={`${param}.upstream_model`}
          label={t('upstreamModel')}
          value={row.upstreamModel}
          width={190}
          onChange={(upstreamModel) => onChange({ upstreamModel })}
        />
        <Field
          param={`${param}.priority`}
          label={t('priority')}
          value={row.priority}
          width={70}
          onChange={(priority) => onChange({ priority })}
        />
        <Field
          param={`${param}.weight`}
          label={t('weight')}
          value={row.weight}
          width={110}
          suffix={`= ${formatShare(share, language)}`}
          onChange={(weight) => onChange({ weight })}
        />
        <RemoveRow onRemove={onRemove} />
      </CheckedRow>
      <Box pl="md">
        <PriceRows
          param={`${param}.costs`}
          title={t('costsOf', { channel: row.channel || t('channel') })}
          act={t('addCost')}
          rows={row.costs}
          onChange={(costs) => onChange({ costs })}
        />
      </Box>
    </Stack>
  )
}

interface FieldProps {
  readonly param: string
  readonly label: string
  readonly value: string
  readonly width?: number
  /** Text at the end of the input. */
  readonly suffix?: string
  readonly onChange: (value: string) => void
}

function Field(props: FieldProps) {
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

function AddRow({ label, onAdd }: { readonly label: string; readonly onAdd: () => void }) {
  return (
    <Group>
      <Button
        variant="subtle"
        size="compact-xs"
        leftSection={<Icon name="plus" size={13} />}
        onClick={onAdd}
      >
        {label}
      </Button>
    </Group>
  )
}
