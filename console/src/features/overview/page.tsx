/** The first page of an account: its money, at a glance and live. */
import { ErrorState } from '../../components/error-state.tsx'
import { MoneyText } from '../../components/money-text.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { StatTile, StatTiles } from '../../components/stat-tile.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

export function Page() {
  const t = useMessages(messages)
  const account = useAccount()
  return (
    <>
      <PageHeader title={t('title')} description={t('description', { account: account.name })} />
      <Balance accountId={account.id} />
    </>
  )
}

function Balance({ accountId }: { readonly accountId: string }) {
  const t = useMessages(messages)
  const balance = useAdmin(
    'GET /accounts/:account_id/balance',
    { params: { account_id: accountId } },
    { live: ['balance'] },
  )
  if (balance.error) {
    return <ErrorState error={balance.error} onRetry={() => void balance.refetch()} />
  }
  const { currency = 'USD', available = '0', held = '0', debt = '0' } = balance.data ?? {}
  const money = (amount: string) => <MoneyText amount={amount} currency={currency} places={2} />
  return (
    <StatTiles>
      <StatTile label={t('available')} value={money(available)} />
      <StatTile label={t('held')} value={money(held)} note={t('heldNote')} />
      <StatTile label={t('debt')} value={money(debt)} note={t('debtNote')} />
    </StatTiles>
  )
}
