/** The oldest open holds: whose they are, and what each waits for. */
import { TextLink } from '../../components/links.tsx'
import { RowTable } from '../../components/list/row-table.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { AccountName } from '../../components/text/account-name.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { OneLine } from '../../components/text/one-line.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

type Hold = AdminAnswer<'GET /operator/proof'>['oldest_holds'][number]

export function OldestHolds({ holds }: { readonly holds: readonly Hold[] }) {
  const t = useMessages(messages)
  if (holds.length === 0) return null
  return (
    <Panel title={t('oldestHolds')} flush>
      <RowTable
        label={t('oldestHolds')}
        rows={holds}
        rowId={(row) => row.request_id}
        columns={[
          {
            key: 'since',
            header: t('since'),
            render: (row) => <TimeText time={row.created_at} form="relative" />,
          },
          {
            key: 'account',
            header: t('account'),
            render: (row) => (
              <TextLink to="/operator/accounts" search={{ id: row.account_id }}>
                <AccountName id={row.account_id} name={row.account_name} />
              </TextLink>
            ),
          },
          { key: 'model', header: t('heldModel'), render: (row) => <OneLine text={row.model} /> },
          { key: 'waits', header: t('waitsFor'), render: (row) => <WaitsFor hold={row} /> },
          {
            key: 'amount',
            header: t('amount'),
            align: 'right',
            render: (row) => <MoneyText amount={row.amount} currency={row.currency} />,
          },
        ]}
      />
    </Panel>
  )
}

function WaitsFor({ hold }: { readonly hold: Hold }) {
  const t = useMessages(messages)
  if (hold.task_id === null) return t('waitsForCall')
  return (
    <TextLink to="/operator/tasks" search={{ id: hold.task_id, task: hold.task_id }}>
      {t('waitsForTask')}
    </TextLink>
  )
}
