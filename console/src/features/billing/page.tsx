/** The money of an account: balance, ledger entries, and redeeming codes. */
import { Box, Button, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { TextLink } from '../../components/links.tsx'
import { DataTable } from '../../components/list/data-table.tsx'
import { EmptyState } from '../../components/list/empty-state.tsx'
import { type RowFields, useColumns } from '../../components/list/fields.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { StatTile, StatTiles } from '../../components/page/stat-tile.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { MoneyText } from '../../components/text/money-text.tsx'
import { type AdminAnswer, adminUrl } from '../../lib/api.ts'
import { formatMoney, SUM_PLACES } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { addUp, placesToAddUp } from '../../lib/nanos.ts'
import { useAccount } from '../../lib/session.tsx'
import { useUrlState } from '../../lib/url-state.ts'
import {
  type RowOf,
  useAdmin,
  useAdminChange,
  useAdminPages,
  withAnswer,
} from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import { MonthStatement } from './statement.tsx'

const LEDGER = 'GET /accounts/:account_id/ledger'
const BALANCE = 'GET /accounts/:account_id/balance'
type Movement = RowOf<typeof LEDGER>

const FIELDS: RowFields<Movement, (typeof messages)['en']> = [
  { key: 'at', as: 'time' },
  { word: 'kind', show: ({ kind }, { t }) => t(kind) },
  { word: 'about', show: showReason },
  { key: 'amount', as: 'money', places: SUM_PLACES },
  { key: 'balance_after', word: 'balance', as: 'money', places: SUM_PLACES, minor: true },
]

export function Page() {
  const t = useMessages(messages)
  const { id, mayPay } = useAccount()
  const params = { account_id: id }
  const balance = useAdmin(BALANCE, { params }, { live: ['balance'] })
  const url = useUrlState(['view', 'month'])
  const view = url.values.view === 'transactions' ? 'transactions' : 'statement'
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} />
      <Stack gap="md">
        <Balance balance={balance.data} />
        {mayPay ? <Redeem accountId={id} /> : null}
        <Group data-no-print>
          <SegmentedControl
            size="xs"
            aria-label={t('view')}
            value={view}
            data={[
              { value: 'statement', label: t('byDay') },
              { value: 'transactions', label: t('transactions') },
            ]}
            onChange={(value) => url.set({ view: value === 'statement' ? '' : value })}
          />
        </Group>
        {view === 'statement' ? (
          <MonthStatement month={url.values.month} onMonth={(month) => url.set({ month })} />
        ) : (
          <Transactions balance={balance} />
        )}
      </Stack>
    </>
  )
}

/** Every charge and credit: each balance is the one below it plus the amount. */
function Transactions({
  balance,
}: {
  readonly balance: ReturnType<typeof useAdmin<typeof BALANCE>>
}) {
  const t = useMessages(messages)
  const { id } = useAccount()
  const params = { account_id: id }
  const pages = useAdminPages(LEDGER, { params }, { live: ['balance'] })
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {t('balanceText')}
        </Text>
        <Button
          component="a"
          variant="default"
          size="compact-sm"
          href={adminUrl('GET /accounts/:account_id/ledger/export', { params })}
          download="ledger.csv"
        >
          {t('export')}
        </Button>
      </Group>
      <DataTable
        label={t('ledger')}
        pages={withAnswer(pages, balance)}
        columns={useColumns(messages, FIELDS, balance.data?.currency)}
        rowId={(row) => row.id}
        empty={
          <EmptyState icon="card" title={t('emptyTitle')}>
            {t('emptyText')}
          </EmptyState>
        }
      />
    </Stack>
  )
}

type Known = AdminAnswer<typeof BALANCE>

interface BalanceProps {
  readonly balance: Known | undefined
}

function Balance({ balance }: BalanceProps) {
  const t = useMessages(messages)
  // No figure is better than a zero that stands there for a moment.
  const money = (amountOf: (known: Known) => string) =>
    balance ? (
      <MoneyText
        amount={amountOf(balance)}
        currency={balance.currency}
        places={placesOf(balance)}
      />
    ) : (
      '–'
    )
  const total = ({ available, held, debt }: Known) => addUp([available, held], [debt])
  const placesOf = (known: Known) =>
    placesToAddUp(total(known), [known.available, known.held], [known.debt])
  return (
    <StatTiles>
      <StatTile label={t('total')} value={money(total)} hint={t('balanceText')} />
      <StatTile label={t('available')} value={money(({ available }) => available)} />
      <StatTile
        label={t('held')}
        value={money(({ held }) => held)}
        hint={t('heldHint')}
        to="/tasks"
      />
      <StatTile label={t('debt')} value={money(({ debt }) => debt)} hint={t('debtHint')} />
    </StatTiles>
  )
}

function Redeem({ accountId }: { readonly accountId: string }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const redeem = useAdminChange('POST /accounts/:account_id/redeem')
  return (
    <Panel title={t('redeem')} noPrint>
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

function showReason(
  { kind, reason, id, model }: Movement,
  { textOf }: { readonly textOf: (text: string) => string },
) {
  if (kind !== 'charge' || reason !== null) return reason && textOf(reason)
  return (
    <TextLink to="/usage" search={{ id }} size="sm">
      {model ?? id}
    </TextLink>
  )
}
