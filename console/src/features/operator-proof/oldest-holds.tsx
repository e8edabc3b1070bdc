/** The oldest open holds: whose they are, and what each waits for. */
import { TextLink } from '../../components/links.tsx'
import { type RowFields, useColumns } from '../../components/list/fields.tsx'
import { RowTable } from '../../components/list/row-table.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { AccountName } from '../../components/text/account-name.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

type Hold = AdminAnswer<'GET /operator/proof'>['oldest_holds'][number]

const FIELDS: RowFields<Hold, (typeof messages)['en']> = [
  { key: 'created_at', word: 'since', as: 'ago' },
  { word: 'account', show: (hold) => <Owner hold={hold} /> },
  { key: 'model', word: 'heldModel', as: 'line' },
  { word: 'waitsFor', show: (hold) => <WaitsFor hold={hold} /> },
  { key: 'amount', as: 'money' },
]

export function OldestHolds({ holds }: { readonly holds: readonly Hold[] }) {
  const t = useMessages(messages)
  const columns = useColumns(messages, FIELDS)
  if (holds.length === 0) return null
  return (
    <Panel title={t('oldestHolds')} flush>
      <RowTable
        label={t('oldestHolds')}
        rows={holds}
        rowId={(row) => row.request_id}
        columns={columns}
      />
    </Panel>
  )
}

interface HoldProps {
  readonly hold: Hold
}

function Owner({ hold: { account_id: id, account_name: name } }: HoldProps) {
  return (
    <TextLink to="/operator/accounts" search={{ id }}>
      <AccountName id={id} name={name} />
    </TextLink>
  )
}

function WaitsFor({ hold }: HoldProps) {
  const t = useMessages(messages)
  if (hold.task_id === null) return t('waitsForCall')
  return (
    <TextLink to="/operator/tasks" search={{ id: hold.task_id, task: hold.task_id }}>
      {t('waitsForTask')}
    </TextLink>
  )
}
