/** Charts of the period: spend, calls by outcome, latency. A slot links to its calls. */
import { SimpleGrid } from '@mantine/core'
import { fillBuckets, fromFirst } from '../../components/charts/fill-buckets.ts'
import { FAILED_COLOR, OTHER_COLOR, seriesColor } from '../../components/charts/palette.ts'
import type { Point, Series } from '../../components/charts/points.ts'
import { TimeChart } from '../../components/charts/time-chart.tsx'
import { Panel } from '../../components/page/panel.tsx'
import {
  CHARGE_PLACES,
  formatCompact,
  formatDuration,
  formatMoney,
  formatNumber,
  placesFor,
} from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { useGoTo } from '../../lib/url-state.ts'
import type { Summary } from './answers.ts'
import { messages } from './messages.ts'

const HOUR_MS = 3_600_000
const STEP_MS = { hour: HOUR_MS, day: 24 * HOUR_MS } as const

type Filled = ReturnType<typeof fillBuckets<Summary['series'][number]>>

export function Charts({ summary }: { readonly summary: Summary }) {
  const filled = fillBuckets(summary.series, fromFirst(summary.series, summary))
  const goTo = useGoTo()
  const open = ({ at }: Point) => {
    const to = new Date(new Date(at).getTime() + STEP_MS[summary.step]).toISOString()
    goTo('/usage', { from: at, to })
  }
  const props = { summary, filled, open }
  return (
    <SimpleGrid cols={{ base: 1, md: 2, lg: 3 }} spacing="md">
      <SpendChart {...props} />
      <CallsChart {...props} />
      <LatencyChart {...props} />
    </SimpleGrid>
  )
}

interface ChartProps {
  readonly summary: Summary
  readonly filled: Filled
  readonly open: (point: Point) => void
}

function SpendChart({ summary, filled, open }: ChartProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { currency, step } = summary
  const money = (amount: string, places: number) =>
    formatMoney(amount, { currency, language, places })
  const points = filled.map(({ at, row }) => ({
    at,
    values: [Number(row?.charged ?? 0)],
    texts: [money(row?.charged ?? '0', CHARGE_PLACES)],
  }))
  return (
    <Panel title={t('spend')}>
      <TimeChart
        points={points}
        step={step}
        kind="columns"
        label={t('spend')}
        series={[{ label: t('spend'), color: seriesColor(0) }]}
        format={(value) => money(String(value), placesFor(value))}
        onPick={open}
      />
    </Panel>
  )
}

function CallsChart({ summary, filled, open }: ChartProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const series: Series[] = [
    { label: t('succeeded'), color: seriesColor(0) },
    { label: t('cancelled'), color: OTHER_COLOR },
    { label: t('failed'), color: FAILED_COLOR },
  ]
  const points = filled.map(({ at, row }) => {
    const { calls = 0, errors = 0, cancelled = 0 } = row ?? {}
    const values = [calls - errors - cancelled, cancelled, errors]
    return { at, values, texts: values.map((value) => formatNumber(value, language)) }
  })
  return (
    <Panel title={t('calls')}>
      <TimeChart
        points={points}
        series={series}
        step={summary.step}
        kind="columns"
        label={t('calls')}
        format={(value) => formatCompact(value, language)}
        onPick={open}
      />
    </Panel>
  )
}

function LatencyChart({ summary, filled, open }: ChartProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const series: Series[] = [
    { label: t('median'), color: seriesColor(0) },
    { label: t('slowest'), color: seriesColor(1) },
  ]
  const points = filled.map(({ at, row }) => {
    const values = [row?.latency.p50_ms ?? null, row?.latency.p95_ms ?? null]
    return {
      at,
      values,
      texts: values.map((ms) => (ms === null ? '–' : formatDuration(ms, language))),
    }
  })
  return (
    <Panel title={t('latency')}>
      <TimeChart
        points={points}
        series={series}
        step={summary.step}
        kind="lines"
        label={t('latency')}
        format={(ms) => formatDuration(ms, language)}
        onPick={open}
      />
    </Panel>
  )
}
