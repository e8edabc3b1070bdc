/** Spend over the period, stacked by a choice, and figures of each model, tag or end user. */
import { Group, SegmentedControl, Skeleton, Text } from '@mantine/core'
import { fillBuckets, fromFirst } from '../../components/charts/fill-buckets.ts'
import { OTHER_COLOR, seriesColor } from '../../components/charts/palette.ts'
import { TimeChart } from '../../components/charts/time-chart.tsx'
import { type RowFields, useColumns } from '../../components/list/fields.tsx'
import { RowTable } from '../../components/list/row-table.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import {
  CHARGE_PLACES,
  formatDuration,
  formatMoney,
  formatShare,
  placesFor,
  SUM_PLACES,
} from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import type { Language } from '../../lib/language.ts'
import type { useAdmin } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

export const SUMMARY = 'GET /accounts/:account_id/usage/summary'
type Summary = AdminAnswer<typeof SUMMARY>

const GROUPINGS = ['model', 'key', 'endpoint', 'tag', 'end_user'] as const
export type Grouping = (typeof GROUPINGS)[number]

export function readGrouping(text: string): Grouping {
  return GROUPINGS.find((one) => one === text) ?? 'model'
}

/** Calls may have none. */
const isLabel = (grouping: Grouping) => grouping === 'tag' || grouping === 'end_user'

interface UsageChartProps {
  readonly summary: ReturnType<typeof useAdmin<typeof SUMMARY>>
  readonly grouping: Grouping
  readonly onGrouping: (grouping: Grouping) => void
  /** The list below is filtered by what figures do not know: the status or the id of a call. */
  readonly isWider: boolean
}

export function UsageChart({ summary, grouping, onGrouping, isWider }: UsageChartProps) {
  const t = useMessages(messages)
  const { data, error, isPlaceholderData, refetch } = summary
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={300} aria-busy />
  const choice = (
    <SegmentedControl
      size="xs"
      aria-label={t('stackedBy')}
      value={grouping}
      data={GROUPINGS.map((value) => ({
        value,
        label: t(value === 'end_user' ? 'endUser' : value),
      }))}
      onChange={onGrouping}
    />
  )
  return (
    <Panel title={t('spendOver')} aside={choice}>
      {isWider ? (
        <Text size="xs" c="dimmed">
          {t('chartIsWider')}
        </Text>
      ) : null}
      <div data-stale={isPlaceholderData || undefined}>
        <Stacked summary={data} others={t(isLabel(grouping) ? 'othersOrNone' : 'others')} />
      </div>
    </Panel>
  )
}

interface StackedProps {
  readonly summary: Summary
  /** The name of the group of all others. */
  readonly others: string
}

function Stacked({ summary, others }: StackedProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { groups, currency, step } = summary
  const money = (amount: string, places: number) =>
    formatMoney(amount, { currency, language, places })
  const series = groups.map(({ name, label }, index) => ({
    label: name === '' ? others : label || name,
    color: name === '' ? OTHER_COLOR : seriesColor(index),
  }))
  const span = fromFirst(summary.series, summary)
  const rows = groups.map((group) => fillBuckets(group.series, span))
  const slots = fillBuckets(summary.series, span)
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

const ERRORS = {
  word: 'errors',
  align: 'right',
  show: (
    { calls, errors }: { readonly calls: number; readonly errors: number },
    { language }: { readonly language: Language },
  ) => formatShare(calls > 0 ? errors / calls : 0, language),
} as const

const MODEL_FIELDS: RowFields<Summary['models'][number], (typeof messages)['en']> = [
  { key: 'model' },
  { key: 'calls', as: 'count' },
  ERRORS,
  {
    word: 'median',
    align: 'right',
    show: ({ latency }, { language }) => nameDuration(latency.p50_ms, language),
  },
  {
    word: 'slowest',
    align: 'right',
    show: ({ latency }, { language }) => nameDuration(latency.p95_ms, language),
  },
  { key: 'charged', as: 'money', places: SUM_PLACES },
]

function nameDuration(ms: number | null, language: Language): string {
  return ms === null ? '–' : formatDuration(ms, language)
}

const LABEL_FIELDS: RowFields<Summary['labels'][number], (typeof messages)['en']> = [
  { key: 'name' },
  { key: 'calls', as: 'count' },
  ERRORS,
  { key: 'charged', as: 'money', places: SUM_PLACES },
]

interface FiguresProps {
  readonly summary: Summary
  readonly grouping: Grouping
  readonly isStale: boolean
}

/** Tags or end users where the chart is stacked by them, else models. */
export function ChosenFigures(props: FiguresProps) {
  return isLabel(props.grouping) ? <LabelFigures {...props} /> : <ModelFigures {...props} />
}

function LabelFigures({ summary, grouping, isStale }: FiguresProps) {
  const t = useMessages(messages)
  const columns = useColumns(messages, LABEL_FIELDS, summary.currency)
  if (summary.labels.length === 0) return null
  const title = t(grouping === 'tag' ? 'byTag' : 'byEndUser')
  return (
    <Panel title={title} flush>
      <RowTable
        label={title}
        rows={summary.labels}
        columns={columns}
        rowId={({ name }) => name}
        isStale={isStale}
      />
    </Panel>
  )
}

function ModelFigures({ summary, isStale }: FiguresProps) {
  const t = useMessages(messages)
  const columns = useColumns(messages, MODEL_FIELDS, summary.currency)
  if (summary.models.length === 0) return null
  return (
    <Panel title={t('byModel')} flush>
      <RowTable
        label={t('byModel')}
        rows={summary.models}
        columns={columns}
        rowId={({ model }) => model}
        isStale={isStale}
      />
    </Panel>
  )
}
