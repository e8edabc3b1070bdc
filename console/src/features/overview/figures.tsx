/** Spend, calls, errors and latency of a period; each figure links to its calls. */
import { Group, SimpleGrid, Skeleton, Stack, Title } from '@mantine/core'
import { useMemo } from 'react'
import { PeriodPicker } from '../../components/list/period-picker.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { chartSpan, type Period } from '../../lib/period.ts'
import { useAccount } from '../../lib/session.tsx'
import { useUrlState } from '../../lib/url-state.ts'
import { useAdmin } from '../../lib/use-admin.ts'
import { Charts } from './charts.tsx'
import { messages } from './messages.ts'
import { Shares } from './shares.tsx'
import { UsageTotals } from './totals.tsx'

/** Of the charts where no period is chosen. */
const CHART_DAYS = 1

export function AccountFigures() {
  const t = useMessages(messages)
  const { values, set } = useUrlState(['from', 'to'])
  return (
    <Stack gap="md" component="section">
      <Group justify="space-between" mt="sm">
        <Title order={2}>{t('activity')}</Title>
        <PeriodPicker value={values} onChange={set} unset={t('lastDay')} />
      </Group>
      <Activity from={values.from} to={values.to} />
    </Stack>
  )
}

function Activity({ from, to }: Period) {
  const account = useAccount()
  const span = useMemo(() => chartSpan({ from, to }, Date.now(), CHART_DAYS), [from, to])
  const query = { ...span, time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone }
  const { data, error, isPlaceholderData, refetch } = useAdmin(
    'GET /accounts/:account_id/usage/summary',
    { params: { account_id: account.id }, query },
    { live: ['usage'], keepPrevious: true },
  )
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={360} aria-busy />
  return (
    <Stack gap="md" data-stale={isPlaceholderData || undefined}>
      <UsageTotals summary={data} />
      <Charts summary={data} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Shares summary={data} />
      </SimpleGrid>
    </Stack>
  )
}
