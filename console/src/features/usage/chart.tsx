/** Spend over the period, stacked by model, key or endpoint; and each model's percentiles. */
import { Group, SegmentedControl, Skeleton, Table } from '@mantine/core'
import { fillBuckets } from '../../components/charts/fill-buckets.ts'
import { TimeChart } from '../../components/charts/time-chart.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { SideScroll } from '../../components/page/side-scroll.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import {
  CHARGE_PLACES,
  formatDuration,
  formatMoney,
  formatNumber,
  formatShare,
  placesFor,
} from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import type { useAdmin } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

export const SUMMARY = 'GET /accounts/:account_id/usage/summary'
type Summary = AdminAnswer<typeof SUMMARY>

const GROUPINGS = ['model', 'key', 'endpoint'] as const
export type Grouping = (typeof GROUPINGS)[number]

export function readGrouping(text: string): Grouping {
  return GROUPINGS.find((one) => one === text) ?? 'model'
}

/** Distinct in both looks; the last is for all others. */
const COLORS = ['river-6', 'orange-6', 'violet-5', 'teal-6', 'pink-6', 'yellow-7'] as const
const OTHERS = 'var(--mantine-color-gray-5)'

interface UsageChartProps {
  readonly summary: ReturnType<typeof useAdmin<typeof SUMMARY>>
  readonly grouping: Grouping
  readonly onGrouping: (grouping: Grouping) => void
}

export function UsageChart({ summary, grouping, onGrouping }: UsageChartProps) {
  const t = useMessages(messages)
  const { data, error, refetch } = summary
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={300} aria-busy />
  const choice = (
    <SegmentedControl
      size="xs"
      aria-label={t('stackedBy')}
      value={grouping}
      data={GROUPINGS.map((value) => ({ value, label: t(value) }))}
      onChange={onGrouping}
    />
  )
  return (
    <Panel title={t('spendOver')} aside={choice}>
      <Stacked summary={data} />
    </Panel>
  )
}

function Stacked({ summary }: { readonly summary: Summary }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { groups, currency, step } = summary
  const money = (amount: string, places: number) =>
    formatMoney(amount, { currency, language, places })
  const series = groups.map(({ name, label }, index) => ({
    label: name === '' ? t('others') : label || name,
    color: name === '' ? OTHERS : `var(--mantine-color-${COLORS[index] ?? 'gray-6'})`,
  }))
  const rows = groups.map((group) => fillBuckets(group.series, summary))
  const slots = fillBuckets(summary.series, summary)
  const points = slots.map(({ at }, slot) => {
    const charges = rows.map((row) => row[slot]?.row?.charged ?? '0')
    return {
      at,
      values: charges.map(Number),
      texts: charges.map((one) => money(one, CHARGE_PLACES)),
    }
  })
  return (
    <>
      <TimeChart
        kind="columns"
        label={t('spendOver')}
        step={step}
        series={series}
        points={points}
        format={(value) => money(String(value), placesFor(value))}
        height={180}
      />
      <Group gap="md" mt={4}>
        {series.map(({ label, color }) => (
          <Group key={label} gap={6} fz="xs" wrap="nowrap">
            <span
              aria-hidden="true"
              style={{ width: 10, height: 10, borderRadius: 3, background: color }}
            />
            {label}
          </Group>
        ))}
      </Group>
    </>
  )
}

export function ModelFigures({ summary }: { readonly summary: Summary }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  if (summary.models.length === 0) return null
  const duration = (ms: number | null) => (ms === null ? '–' : formatDuration(ms, language))
  return (
    <Panel title={t('byModel')} flush>
      <SideScroll label={t('byModel')} minWidth={520}>
        <Table aria-label={t('byModel')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('model')}</Table.Th>
              <Table.Th ta="right">{t('calls')}</Table.Th>
              <Table.Th ta="right">{t('errors')}</Table.Th>
              <Table.Th ta="right">{t('median')}</Table.Th>
              <Table.Th ta="right">{t('slowest')}</Table.Th>
              <Table.Th ta="right">{t('charged')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {summary.models.map(({ model, calls, errors, charged, latency }) => (
              <Table.Tr key={model}>
                <Table.Td>{model}</Table.Td>
                <Table.Td ta="right">{formatNumber(calls, language)}</Table.Td>
                <Table.Td ta="right">
                  {formatShare(calls > 0 ? errors / calls : 0, language)}
                </Table.Td>
                <Table.Td ta="right">{duration(latency.p50_ms)}</Table.Td>
                <Table.Td ta="right">{duration(latency.p95_ms)}</Table.Td>
                <Table.Td ta="right">
                  <MoneyText amount={charged} currency={summary.currency} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </SideScroll>
    </Panel>
  )
}
