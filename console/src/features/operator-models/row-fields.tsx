/** Form rows for prices and routes, which can be added and removed. */
import { ActionIcon, Box, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { Icon } from '../../components/icon.tsx'
import { UNIT_ORDER } from '../../components/prices/units.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { NEW_PRICE, NEW_ROUTE, type PriceDraft, type RouteDraft } from './draft.ts'
import { messages } from './messages.ts'

const EXAMPLE = '{"resolution": "720p"}'

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
  readonly title: string
  /** Label of the button that adds a row. */
  readonly act: string
}

/** Prices, or the costs of a route. */
export function PriceRows({ title, act, rows, onChange }: PriceRowsProps) {
  const t = useMessages(messages)
  return (
    <Stack gap="xs">
      <Text fw={600} size="sm">
        {title}
      </Text>
      {rows.map((row, index) => {
        const set = (change: Partial<PriceDraft>) =>
          onChange(replaceAt(rows, index, { ...row, ...change }))
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place while it is edited
          <Group key={index} gap={6} align="flex-end" wrap="wrap">
            <Select
              label={t('unit')}
              size="xs"
              w={190}
              data={UNIT_ORDER}
              searchable
              allowDeselect={false}
              value={row.unit}
              onChange={(unit) => set({ unit: unit ?? row.unit })}
            />
            <Field label={t('amount')} value={row.amount} onChange={(amount) => set({ amount })} />
            <Field label={t('per')} value={row.per} onChange={(per) => set({ per })} />
            <Field
              label={t('when')}
              value={row.when}
              width={190}
              placeholder={t('whenNote', { example: EXAMPLE })}
              onChange={(when) => set({ when })}
            />
            <RemoveRow onRemove={() => onChange(rows.filter((_, at) => at !== index))} />
          </Group>
        )
      })}
      <AddRow label={act} onAdd={() => onChange([...rows, NEW_PRICE])} />
    </Stack>
  )
}

interface RouteRowsProps extends RowsProps<RouteDraft> {
  readonly channels: readonly string[]
}

export function RouteRows({ rows, channels, onChange }: RouteRowsProps) {
  const t = useMessages(messages)
  return (
    <Stack gap="xs">
      <Text fw={600} size="sm">
        {t('routes')}
      </Text>
      {rows.map((row, index) => (
        <RouteRow
          // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place while it is edited
          key={index}
          row={row}
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
  readonly row: RouteDraft
  readonly channels: readonly string[]
  readonly onChange: (change: Partial<RouteDraft>) => void
  readonly onRemove: () => void
}

function RouteRow({ row, channels, onChange, onRemove }: RouteRowProps) {
  const t = useMessages(messages)
  return (
    <Stack gap={6}>
      <Group gap={6} align="flex-end" wrap="wrap">
        <Select
          label={t('channel')}
          size="xs"
          w={150}
          data={[...channels]}
          searchable
          required
          value={row.channel || null}
          onChange={(channel) => onChange({ channel: channel ?? '' })}
        />
        <Field
          label={t('upstreamModel')}
          value={row.upstreamModel}
          width={190}
          onChange={(upstreamModel) => onChange({ upstreamModel })}
        />
        <Field
          label={t('priority')}
          value={row.priority}
          width={70}
          onChange={(priority) => onChange({ priority })}
        />
        <Field
          label={t('weight')}
          value={row.weight}
          width={70}
          onChange={(weight) => onChange({ weight })}
        />
        <RemoveRow onRemove={onRemove} />
      </Group>
      <Box pl="md">
        <PriceRows
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
  readonly label: string
  readonly value: string
  readonly width?: number
  readonly placeholder?: string
  readonly onChange: (value: string) => void
}

function Field({ label, value, width = 90, placeholder = '', onChange }: FieldProps) {
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
