/** Form rows for routes, which can be added and removed. */
import { Box, Select, Stack, Text } from '@mantine/core'
import { CheckedRow } from '../../components/fields/checked-row.tsx'
import { useFieldError } from '../../components/form/checked-form.tsx'
import {
  PriceRows,
  type RowsProps,
  replaceAt,
  SmallField,
} from '../../components/form/prices/price-rows.tsx'
import { AddRow, RemoveRow } from '../../components/form/prices/row-buttons.tsx'
import { formatShare } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { NEW_ROUTE, type RouteDraft } from './draft.ts'
import { messages } from './messages.ts'
import { shareRoutes } from './route-shares.ts'

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
        <SmallField
          param={`${param}.upstream_model`}
          label={t('upstreamModel')}
          value={row.upstreamModel}
          width={190}
          onChange={(upstreamModel) => onChange({ upstreamModel })}
        />
        <SmallField
          param={`${param}.priority`}
          label={t('priority')}
          value={row.priority}
          width={70}
          onChange={(priority) => onChange({ priority })}
        />
        <SmallField
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
