/** The operators' first page: what was earned, what failed, what needs a person. */
import { Group, SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core'
import { useMemo } from 'react'
import { fillBuckets } from '../../components/charts/fill-buckets.ts'
import { type Share, ShareList } from '../../components/charts/share-list.tsx'
import { TimeChart } from '../../components/charts/time-chart.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Panel } from '../../components/panel.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { formatCompact, formatMoney, formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { RANGES, readRange, spanOf } from '../../lib/range.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { useAdmin } from '../../lib/use-admin.ts'
import { Channels } from './channels.tsx'
import { Figures } from './figures.tsx'
import { messages } from './messages.ts'

const KEY = 'GET /operator/overview'
const REFRESH_MS = 15_000
export type Overview = AdminAnswer<typeof KEY>

export function Page() {
  const t = useMessages(messages)
  const url = useUrlState(['range'])
  const range = readRange(url.values.range)
  const span = useMemo(() => spanOf(range, Date.now()), [range])
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const { data, error, refetch } = useAdmin(
    KEY,
    { query: { ...span, time_zone: zone } },
    { refetchEveryMs: REFRESH_MS, keepPrevious: true },
  )
  const names = Object.keys(RANGES) as (keyof typeof RANGES)[]
  const period = (
    <SegmentedControl
      size="xs"
      aria-label={t('range')}
      value={range}
      data={names.map((value) => ({ value, label: t(value) }))}
      onChange={(value) => url.set({ range: value === 'day' ? '' : value })}
    />
  )
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} actions={period} />
      {error ? <ErrorState error={error} onRetry={() => void refetch()} /> : null}
      {data ? (
        <Stack gap="md">
          <Figures overview={data} />
          <Charts overview={data} />
          <Shares overview={data} />
          <Channels channels={data.channels} />
        </Stack>
      ) : null}
    </>
  )
}

interface PartProps {
  readonly overview: Overview
}

function Charts({ overview }: PartProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { currencies, series, step } = overview
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
      {currencies.map(({ currency }) => {
        const own = series.filter((row) => row.currency === currency)
        const money = (amount: string, places: number) =>
          formatMoney(amount, { currency, language, places })
        const filled = fillBuckets(own, overview)
        return [
          <Panel key={`${currency} revenue`} title={t('revenueIn', { currency })}>
            <TimeChart
              kind="columns"
              step={step}
              label={t('revenueIn', { currency })}
              series={[{ label: t('revenue'), color: 'var(--mantine-color-river-6)' }]}
              points={filled.map(({ at, row }) => ({
                at,
                values: [Number(row?.revenue ?? 0)],
                texts: [money(row?.revenue ?? '0', 6)],
              }))}
              format={(value) => money(String(value), 3)}
            />
          </Panel>,
          <Panel key={`${currency} calls`} title={t('calls')}>
            <TimeChart
              kind="columns"
              step={step}
              label={t('calls')}
              series={[
                { label: t('calls'), color: 'var(--mantine-color-river-6)' },
                { label: t('errors'), color: 'var(--mantine-color-red-6)' },
              ]}
              points={filled.map(({ at, row }) => {
                const { calls = 0, errors = 0 } = row ?? {}
                const values = [calls - errors, errors]
                return { at, values, texts: values.map((one) => formatNumber(one, language)) }
              })}
              format={(value) => formatCompact(value, language)}
            />
          </Panel>,
        ]
      })}
    </SimpleGrid>
  )
}

function Shares({ overview }: PartProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const share = (row: { revenue: string; currency: string; calls: number }) => ({
    value: Number(row.revenue),
    text: formatMoney(row.revenue, { currency: row.currency, language, places: 4 }),
    note: t('callsOf', { count: formatNumber(row.calls, language) }),
  })
  const accounts: Share[] = overview.accounts.map((row) => ({
    ...share(row),
    ...{ id: row.account_id, label: row.name, to: '/operator/accounts' },
    search: { id: row.account_id },
  }))
  const models: Share[] = overview.models.map((row) => ({
    ...share(row),
    ...{ id: `${row.model} ${row.currency}`, label: row.model, to: '/operator/calls' },
    search: { model: row.model },
  }))
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
      <SharePanel title={t('accounts')} shares={accounts} />
      <SharePanel title={t('models')} shares={models} />
    </SimpleGrid>
  )
}

function SharePanel({ title, shares }: { readonly title: string; readonly shares: Share[] }) {
  const t = useMessages(messages)
  return (
    <Panel title={title}>
      {shares.length > 0 ? (
        <ShareList shares={shares} />
      ) : (
        <Group>
          <Text size="sm" c="dimmed">
            {t('nothing')}
          </Text>
        </Group>
      )}
    </Panel>
  )
}
