/** The money of an account: balance, ledger entries, and redeeming codes. */
import { Box, Stack, Text, TextInput } from '@mantine/core'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { TextLink } from '../../components/links.tsx'
import { type Column, DataTable } from '../../components/list/data-table.tsx'
import { EmptyState } from '../../components/list/empty-state.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { StatTile, StatTiles } from '../../components/page/stat-tile.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { MoneyText } from '../../components/text/money-text.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { formatMoney } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { type RowOf, useAdmin, useAdminChange, useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const LEDGER = 'GET /accounts/:account_id/ledger'
const BALANCE = 'GET /accounts/:account_id/balance'
type Movement = RowOf<typeof LEDGER>

export function Page() {
  const t = useMessages(messages)
  const { id, isOwner } = useAccount()
  const params = { account_id: id }
  const balance = useAdmin(BALANCE, { params }, { live: ['balance'] })
  const currency = balance.data?.currency ?? 'CNY'
  const pages = useAdminPages(LEDGER, { params }, { live: ['balance'] })
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} />
      <Stack gap="md">
        <Balance balance={balance.data} />
        {isOwner ? <Redeem accountId={id} /> : null}
        <DataTable
          label={t('ledger')}
          pages={pages}
          columns={useColumns(currency)}
          rowId={(row) => row.id}
          empty={
            <EmptyState icon="card" title={t('emptyTitle')}>
              {t('emptyText')}
            </EmptyState>
          }
        />
      </Stack>
    </>
  )
}

interface BalanceProps {
  readonly balance: { currency: string; available: string; held: string; debt: string } | undefined
}

function Balance({ balance }: BalanceProps) {
  const t = useMessages(messages)
  const { currency = 'CNY', available = '0', held = '0', debt = '0' } = balance ?? {}
  const money = (amount: string) => <MoneyText amount={amount} currency={currency} places={2} />
  return (
    <StatTiles>
      <StatTile label={t('available')} value={money(available)} />
      <StatTile label={t('held')} value={money(held)} hint={t('heldHint')} to="/tasks" />
      <StatTile label={t('debt')} value={money(debt)} hint={t('debtHint')} />
    </StatTiles>
  )
}

function Redeem({ accountId }: { readonly accountId: string }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const redeem = useAdminChange('POST /accounts/:account_id/redeem')
  return (
    <Panel title={t('redeem')}>
      <Text size="sm" c="dimmed" mb="xs">
        {t('redeemText')}
      </Text>
      <Box maw={420}>
        <SubmitForm
          act={t('redeem')}
          isInline
          onSend={async ({ code = '' }) => {
            const { amount, currency } = await redeem.mutateAsync({
              params: { account_id: accountId },
              body: { code },
            })
            notifyDone(t('redeemed', { amount: formatMoney(amount, { currency, language }) }))
          }}
        >
          <TextInput
            name="code"
            aria-label={t('code')}
            placeholder="XXXXX-XXXXX-XXXXX-XXXXX"
            required
            maxLength={100}
            autoComplete="off"
          />
        </SubmitForm>
      </Box>
    </Panel>
  )
}

function useColumns(currency: string): Column<Movement>[] {
  const t = useMessages(messages)
  return [
    { key: 'at', header: t('at'), render: (row) => <TimeText time={row.at} />, isTime: true },
    { key: 'kind', header: t('kind'), render: (row) => t(row.kind) },
    {
      key: 'about',
      header: t('about'),
      render: (row) =>
        row.kind === 'charge' ? (
          <TextLink to="/usage" search={{ id: row.id }} size="sm">
            {row.model ?? row.id}
          </TextLink>
        ) : (
          row.reason
        ),
    },
    {
      key: 'amount',
      header: t('amount'),
      render: (row) => <MoneyText amount={row.amount} currency={currency} />,
      align: 'right',
    },
    {
      key: 'balance',
      header: t('balance'),
      render: (row) => <MoneyText amount={row.balance_after} currency={currency} />,
      align: 'right',
      minor: true,
    },
  ]
}
