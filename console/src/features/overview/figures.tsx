/** Spend, calls, errors and latency of a period; each figure links to its calls. */
import { Group, SegmentedControl, SimpleGrid, Skeleton, Stack, Title } from '@mantine/core'
import { useMemo } from 'react'
import { ErrorState } from '../../components/state/error-state.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { RANGES, type RangeName, readRangeName, spanOf } from '../../lib/range.ts'
import { useAccount } from '../../lib/session.tsx'
import { useUrlState } from '../../lib/url-state.ts'
import { useAdmin } from '../../lib/use-admin.ts'
import { Charts } from './charts.tsx'
import { messages } from './messages.ts'
import { Shares } from './shares.tsx'
import { UsageTotals } from './totals.tsx'

export function AccountFigures() {
  const t = useMessages(messages)
  const url = useUrlState(['range'])
  const range = readRangeName(url.values.range)
  return (
    <Stack gap="md" component="section">
      <Group justify="space-between" mt="sm">
        <Title order={2}>{t('activity')}</Title>
        <RangeControl range={range} onChange={(value) => url.set({ range: value })} />
      </Group>
      <Activity range={range} />
    </Stack>
  )
}

interface RangeControlProps {
  readonly range: RangeName
  /** '' for the default period. */
  readonly onChange: (range: string) => void
}

function RangeControl({ range, onChange }: RangeControlProps) {
  const t = useMessages(messages)
  return (
    <SegmentedControl
      size="xs"
      aria-label={t('range')}
      value={range}
      onChange={(value) => onChange(value === 'day' ? '' : value)}
      data={(Object.keys(RANGES) as RangeName[]).map((value) => ({ value, label: t(value) }))}
    />
  )
}

function Activity({ range }: { readonly range: RangeName }) {
  const account = useAccount()
  const span = useMemo(() => spanOf(range, Date.now()), [range])
  const query = { ...span, time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone }
  const { data, error, refetch } = useAdmin(
    'GET /accounts/:account_id/usage/summary',
    { params: { account_id: account.id }, query },
    { live: ['usage'], keepPrevious: true },
  )
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={360} aria-busy />
  return (
    <>
      <UsageTotals summary={data} />
      <Charts summary={data} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Shares summary={data} />
      </SimpleGrid>
    </>
  )
}
