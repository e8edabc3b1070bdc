/** Redeem codes: create a batch, see the state of each. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { Icon } from '../../components/icon.tsx'
import { DataTable } from '../../components/list/data-table.tsx'
import { type RowFields, useColumns } from '../../components/list/fields.tsx'
import { FilteredEmpty } from '../../components/list/filtered-empty.tsx'
import { ListFilters } from '../../components/list/list-filters.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { StatusBadge, type Tone } from '../../components/state/status-badge.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
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

const FIELDS: RowFields<Code, (typeof messages)['en']> = [
  { key: 'display', word: 'code' },
  { key: 'amount', as: 'money', places: 2 },
  { word: 'kind', minor: true, show: ({ kind }, { t }) => t(kind) },
  {
    word: 'state',
    show: ({ state }, { t }) => <StatusBadge tone={TONES[state]} label={t(state)} />,
  },
  { key: 'note', minor: true },
  { key: 'account_id', word: 'account', minor: true },
  { key: 'created_at', word: 'created', as: 'time', minor: true },
]

export function Page() {
  const t = useMessages(messages)
  const list = useListState(['search', 'state'])
  const pages = useAdminPages(KEY, { query: asQuery(KEY, list.filters) }, { keepPrevious: true })
  const states = (Object.keys(TONES) as Code['state'][]).map((value) => ({
    value,
    label: t(value),
  }))
  const [isMaking, setMaking] = useState(false)
  const [taking, setTaking] = useState<Code>()
  const takeBack = useAdminChange('DELETE /operator/redeem-codes/:code_id')
  const acts: RowFields<Code, (typeof messages)['en']> = [
    {
      align: 'right',
      show: (row) => (row.state === 'open' ? <TakeBack onClick={() => setTaking(row)} /> : null),
    },
  ]
  const make = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setMaking(true)}>
      {t('create')}
    </Button>
  )
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} actions={make} />
      <ListFilters
        messages={messages}
        list={list}
        filters={[
          { name: 'search', word: 'search' },
          { name: 'state', word: 'state', options: states },
        ]}
      />
      <DataTable
        label={t('title')}
        pages={pages}
        columns={useColumns(messages, [...FIELDS, ...acts])}
        rowId={(row) => row.id}
        empty={
          <FilteredEmpty
            icon="gift"
            isFiltered={list.isFiltered}
            onClear={list.clearFilters}
            title={t('emptyTitle')}
            action={make}
          >
            {t('emptyText')}
          </FilteredEmpty>
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

function TakeBack({ onClick }: { readonly onClick: () => void }) {
  const t = useMessages(messages)
  return (
    <Button variant="subtle" size="compact-xs" onClick={onClick}>
      {t('void')}
    </Button>
  )
}
