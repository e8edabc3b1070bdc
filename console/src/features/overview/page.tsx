/** The first page of an account: money, notices, calls and their cost. */
import { Skeleton } from '@mantine/core'
import { InOrder } from '../../components/page/in-order.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import { AccountFigures } from './figures.tsx'
import { FirstCall } from './first-call.tsx'
import { FirstSteps } from './first-steps.tsx'
import { messages } from './messages.ts'
import { MoneyTiles } from './money-tiles.tsx'
import { Notices } from './notices.tsx'
import { RecentCalls } from './recent-calls.tsx'

export function Page() {
  const t = useMessages(messages)
  const account = useAccount()
  const query = { time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone }
  const overview = useAdmin(
    'GET /accounts/:account_id/overview',
    { params: { account_id: account.id }, query },
    { live: ['balance', 'tasks', 'deliveries', 'usage'] },
  )
  return (
    <>
      <PageHeader title={t('title')} />
      <InOrder>
        {overview.error ? (
          <ErrorState error={overview.error} onRetry={() => void overview.refetch()} />
        ) : null}
        {overview.isPending ? <Skeleton height={88} aria-busy /> : null}
        {overview.data ? (
          <>
            <Notices overview={overview.data} />
            <MoneyTiles overview={overview.data} />
            <FirstSteps steps={overview.data.first_steps} />
            <FirstCall calls={overview.data.recent_calls} />
          </>
        ) : null}
        <AccountFigures />
        {overview.data ? <RecentCalls calls={overview.data.recent_calls} /> : null}
      </InOrder>
    </>
  )
}
