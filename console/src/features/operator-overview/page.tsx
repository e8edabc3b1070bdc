/** The operators' first page: revenue, cost, failures, and what needs attention. */

import { Group, SegmentedControl, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useMemo } from 'react'
import { fillBuckets, fromFirst } from '../../components/charts/fill-buckets.ts'
import { FAILED_COLOR, seriesColor } from '../../components/charts/palette.ts'
import { type Share, ShareList } from '../../components/charts/share-list.tsx'
import { TimeChart } from '../../components/charts/time-chart.tsx'
import { PeriodPicker } from '../../components/list/period-picker.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { nameAccount } from '../../components/text/name-account.ts'
import {
  CHARGE_PLACES,
  formatCompact,
  formatMoney,
  formatNumber,
  placesFor,
} from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { chartSpan } from '../../lib/period.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { useAdmin } from '../../lib/use-admin.ts'
import { type OperatorOverview, OVERVIEW_ROUTE } from './answer.ts'
import { Channels } from './channels.tsx'
import {
  type EarningsOrder,
  EarningsTable,
  OrderSelect,
  readEarningsOrder,
} from './earnings-table.tsx'
import { OperatorFigures } from './figures.tsx'
import { messages } from './messages.ts'

const REFRESH_MS = 15_000
/** Of the figures where no period is chosen. */
const FIGURE_DAYS = 1

export function Page() {
  const t = useMessages(messages)
  const url = useUrlState(['from', 'to', 'order', 'currency'])
  const { from, to } = url.values
  const span = useMemo(() => chartSpan({ from, to }, Date.now(), FIGURE_DAYS), [from, to])
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const { data, error, isPlaceholderData, refetch } = useAdmin(
    OVERVIEW_ROUTE,
    { query: { ...span, time_zone: zone } },
    { refetchEveryMs: REFRESH_MS, keepPrevious: true },
  )
  const shown = data && ofCurrency(data, url.values.currency)
  const period = <PeriodPicker value={url.values} onChange={url.set} unset={t('lastDay')} />
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} actions={period} />
      {error ? <ErrorState error={error} onRetry={() => void refetch()} /> : null}
      {data && shown ? (
        <Stack gap="md" data-stale={isPlaceholderData || undefined}>
          <OperatorFigures overview={data} />
          {data.currencies.length > 1 ? (
            <CurrencyChoice
              overview={data}
              value={shown.currencies[0]?.currency ?? ''}
              onChange={(currency) => url.set({ currency })}
            />
          ) : null}
          <Charts overview={shown} />
          <Earners
            overview={shown}
            order={readEarningsOrder(url.values.order)}
            onOrder={(order) => url.set({ order: order === 'revenue' ? '' : order })}
          />
          <Accounts overview={shown} />
          <Channels channels={shown.channels} />
        </Stack>
      ) : null}
    </>
  )
}

interface CurrencyChoiceProps {
  readonly overview: OperatorOverview
  readonly value: string
  readonly onChange: (currency: string) => void
}

/** Chooses what charts and lists below are in: amounts of two currencies have no common scale. */
function CurrencyChoice({ overview, value, onChange }: CurrencyChoiceProps) {
  const t = useMessages(messages)
  return (
    <Group justify="flex-end">
      <SegmentedControl
        size="xs"
        aria-label={t('currency')}
        value={value}
        data={overview.currencies.map(({ currency }) => currency)}
        onChange={onChange}
      />
    </Group>
  )
}

/** Returns the figures of one currency: the chosen one, else the one with most calls. */
function ofCurrency(overview: OperatorOverview, chosen: string): OperatorOverview {
  const { currencies } = overview
  const busiest = currencies.toSorted((one, other) => other.calls - one.calls)[0]
  const one = currencies.find(({ currency }) => currency === chosen) ?? busiest
  if (!one) return overview
  const isOne = (row: { readonly currency: string }) => row.currency === one.currency
  return {
    ...overview,
    currencies: [one],
    series: overview.series.filter(isOne),
    models: overview.models.filter(isOne),
    by_channel: overview.by_channel.filter(isOne),
    accounts: overview.accounts.filter(isOne),
  }
}

interface PartProps {
  readonly overview: OperatorOverview
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
        const filled = fillBuckets(own, fromFirst(own, overview))
        return [
          <Panel key={`${currency} revenue`} title={t('revenueIn', { currency })}>
            <TimeChart
              kind="lines"
              step={step}
              label={t('revenueIn', { currency })}
              series={[
                { label: t('revenue'), color: seriesColor(0) },
                { label: t('cost'), color: seriesColor(1) },
              ]}
              points={filled.map(({ at, row }) => {
                const amounts = [row?.revenue ?? '0', row?.upstream_cost ?? '0']
                return {
                  at,
                  values: amounts.map(Number),
                  texts: amounts.map((one) => money(one, CHARGE_PLACES)),
                }
              })}
              format={(value) => money(String(value), placesFor(value))}
            />
          </Panel>,
          <Panel key={`${currency} calls`} title={t('calls')}>
            <TimeChart
              kind="columns"
              step={step}
              label={t('calls')}
              series={[
                { label: t('calls'), color: seriesColor(0) },
                { label: t('errors'), color: FAILED_COLOR },
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

interface EarnersProps extends PartProps {
  readonly order: EarningsOrder
  readonly onOrder: (order: EarningsOrder) => void
}

function Earners({ overview, order, onOrder }: EarnersProps) {
  const t = useMessages(messages)
  const models = overview.models.map(({ model, ...row }) => ({ ...row, name: model }))
  const channels = overview.by_channel.map(({ channel, ...row }) => ({ ...row, name: channel }))
  return (
    <>
      <Group justify="space-between">
        <Title order={2} size="h3">
          {t('earnings')}
        </Title>
        <OrderSelect value={order} onChange={onOrder} />
      </Group>
      <EarningsTable
        title={t('byModel')}
        what={t('model')}
        rows={models}
        order={order}
        linkOf={(model) => ({ to: '/operator/calls', search: { model } })}
      />
      <EarningsTable
        title={t('byChannel')}
        what={t('channel')}
        rows={channels}
        order={order}
        linkOf={(id) => ({ to: '/operator/channels', search: { id } })}
      />
    </>
  )
}

function Accounts({ overview }: PartProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const shares: Share[] = overview.accounts.map((row) => ({
    id: row.account_id,
    label: nameAccount({ id: row.account_id, name: row.name }),
    value: Number(row.revenue),
    text: formatMoney(row.revenue, { currency: row.currency, language, places: CHARGE_PLACES }),
    note: t('callsOf', { count: formatNumber(row.calls, language) }),
    to: '/operator/accounts',
    search: { id: row.account_id },
  }))
  return <SharePanel title={t('accounts')} shares={shares} />
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
