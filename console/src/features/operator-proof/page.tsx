/** The state of the books: figures at once, the whole audit on demand. */
import { Skeleton } from '@mantine/core'
import { DataTable } from '../../components/list/data-table.tsx'
import { EmptyState } from '../../components/list/empty-state.tsx'
import { type RowFields, useColumns } from '../../components/list/fields.tsx'
import { InOrder } from '../../components/page/in-order.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { StatTile, StatTiles } from '../../components/page/stat-tile.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { type RowOf, useAdmin, useAdminPages } from '../../lib/use-admin.ts'
import { Audit } from './audit.tsx'
import { Commands } from './commands.tsx'
import { messages } from './messages.ts'
import { OldestHolds } from './oldest-holds.tsx'
import { OpenHolds } from './open-holds.tsx'
import { Sealed } from './sealed.tsx'

const REFRESH_MS = 5_000
type Proof = AdminAnswer<'GET /operator/proof'>

export function Page() {
  const t = useMessages(messages)
  const proof = useAdmin('GET /operator/proof', {}, { refetchEveryMs: REFRESH_MS })
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} />
      <InOrder gap="lg">
        {proof.error ? (
          <ErrorState error={proof.error} onRetry={() => void proof.refetch()} />
        ) : null}
        {proof.isPending ? <Skeleton height={160} aria-busy /> : null}
        {(proof.data?.totals ?? []).map((totals) => (
          <Totals key={totals.currency} totals={totals} />
        ))}
        {proof.data ? <Attention proof={proof.data} /> : null}
        <Audit last={proof.data?.last_audit} />
        {proof.data ? <Commands successes={proof.data.command_successes} /> : null}
        {proof.data ? <OpenHolds proof={proof.data} /> : null}
        {proof.data ? <OldestHolds holds={proof.data.oldest_holds} /> : null}
        {proof.data ? <Sealed proof={proof.data} /> : null}
        <UnchargedCosts />
      </InOrder>
    </>
  )
}

function Totals({ totals }: { readonly totals: Proof['totals'][number] }) {
  const t = useMessages(messages)
  const { currency, available, held, debt, revenue, topped_up: toppedUp } = totals
  const money = (amount: string) => <MoneyText amount={amount} currency={currency} places={2} />
  return (
    <section aria-label={t('inCurrency', { currency })}>
      <StatTiles>
        <StatTile label={t('toppedUp')} value={money(toppedUp)} />
        <StatTile label={t('revenue')} value={money(revenue)} to="/operator/calls" />
        <StatTile label={t('available')} value={money(available)} to="/operator/accounts" />
        <StatTile label={t('held')} value={money(held)} />
        <StatTile
          label={t('debt')}
          value={money(debt)}
          to="/operator/accounts"
          search={{ in_debt: 'true' }}
        />
      </StatTiles>
    </section>
  )
}

function Attention({ proof }: { readonly proof: Proof }) {
  const t = useMessages(messages)
  return (
    <section aria-label={t('attention')}>
      <StatTiles>
        <StatTile
          label={t('inReview')}
          value={proof.in_review}
          note={t('inReviewNote')}
          to="/operator/calls"
          search={{ review: 'true' }}
        />
        <StatTile
          label={t('lost')}
          value={proof.lost_calls}
          note={t('lostNote')}
          to="/operator/calls"
          search={{ status: 'lost' }}
        />
        <StatTile
          label={t('unchargedCosts')}
          value={proof.uncharged_costs}
          note={t('unchargedNote')}
        />
        <StatTile
          label={t('dropped')}
          value={proof.dropped_deliveries}
          note={t('droppedNote')}
          to="/operator/deliveries"
          search={{ state: 'dropped' }}
        />
      </StatTiles>
    </section>
  )
}

const UNCHARGED_COSTS = 'GET /operator/proof/uncharged-costs'

const UNCHARGED_FIELDS: RowFields<RowOf<typeof UNCHARGED_COSTS>, (typeof messages)['en']> = [
  { key: 'created_at', word: 'time', as: 'time' },
  { key: 'reason' },
  { key: 'channel' },
  { key: 'upstream_model', word: 'model', minor: true },
  { key: 'task_id', word: 'task', minor: true },
  { key: 'upstream_cost', word: 'costAtMost', align: 'right', absent: 'unknownCost' },
]

function UnchargedCosts() {
  const t = useMessages(messages)
  const pages = useAdminPages(UNCHARGED_COSTS, {})
  const columns = useColumns(messages, UNCHARGED_FIELDS)
  if (!pages.isPending && !pages.error && pages.rows.length === 0) {
    return (
      <Panel title={t('unchargedCosts')}>
        <EmptyState icon="check" title={t('unchargedEmpty')} />
      </Panel>
    )
  }
  return (
    <DataTable
      label={t('unchargedCosts')}
      pages={pages}
      columns={columns}
      rowId={(row) => row.attempt_id}
      empty={null}
    />
  )
}
