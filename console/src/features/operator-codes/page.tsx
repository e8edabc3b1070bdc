/** Redeem codes: create a batch, see the state of each. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { Icon } from '../../components/icon.tsx'
import { type Column, DataTable } from '../../components/list/data-table.tsx'
import { EmptyState } from '../../components/list/empty-state.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { StatusBadge, type Tone } from '../../components/state/status-badge.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { type RowOf, useAdminChange, useAdminPages } from '../../lib/use-admin.ts'
import { MakeCodes } from './make-codes.tsx'
import { messages } from './messages.ts'

const KEY = 'GET /operator/redeem-codes'
type Code = RowOf<typeof KEY>

const TONES: Readonly<Record<Code['state'], Tone>> = {
  open: 'good',
  used: 'quiet',
  expired: 'warning',
  voided: 'bad',
}

export function Page() {
  const t = useMessages(messages)
  const pages = useAdminPages(KEY, {})
  const [isMaking, setMaking] = useState(false)
  const [taking, setTaking] = useState<Code>()
  const takeBack = useAdminChange('DELETE /operator/redeem-codes/:code_id')
  const make = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setMaking(true)}>
      {t('create')}
    </Button>
  )
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} actions={make} />
      <DataTable
        label={t('title')}
        pages={pages}
        columns={useColumns(setTaking)}
        rowId={(row) => row.id}
        empty={
          <EmptyState icon="gift" title={t('emptyTitle')} action={make}>
            {t('emptyText')}
          </EmptyState>
        }
      />
      <MakeCodes isOpen={isMaking} onClose={() => setMaking(false)} />
      <ConfirmDialog
        isOpen={taking !== undefined}
        title={`${t('void')}: ${taking?.display ?? ''}`}
        act={t('void')}
        isDangerous
        onClose={() => setTaking(undefined)}
        onConfirm={async () => {
          if (taking) await takeBack.mutateAsync({ params: { code_id: taking.id } })
          notifyDone(t('voidedDone'))
        }}
      >
        {t('voidText')}
      </ConfirmDialog>
    </>
  )
}

function useColumns(onTakeBack: (code: Code) => void): Column<Code>[] {
  const t = useMessages(messages)
  return [
    { key: 'code', header: t('code'), render: (row) => row.display },
    {
      key: 'amount',
      header: t('amount'),
      render: (row) => <MoneyText amount={row.amount} currency={row.currency} places={2} />,
      align: 'right',
    },
    { key: 'kind', header: t('kind'), render: (row) => t(row.kind), minor: true },
    {
      key: 'state',
      header: t('state'),
      render: (row) => <StatusBadge tone={TONES[row.state]} label={t(row.state)} />,
    },
    { key: 'note', header: t('note'), render: (row) => row.note, minor: true },
    { key: 'account', header: t('account'), render: (row) => row.account_id ?? '–', minor: true },
    {
      key: 'created',
      header: t('created'),
      render: (row) => <TimeText time={row.created_at} />,
      isTime: true,
      minor: true,
    },
    {
      key: 'act',
      header: '',
      render: (row) =>
        row.state === 'open' ? (
          <Button variant="subtle" size="compact-xs" onClick={() => onTakeBack(row)}>
            {t('void')}
          </Button>
        ) : null,
      align: 'right',
    },
  ]
}
