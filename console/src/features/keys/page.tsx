/** The keys of an account: a list, with the details beside it. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { DataTable } from '../../components/list/data-table.tsx'
import { useColumns } from '../../components/list/fields.tsx'
import { FilteredEmpty } from '../../components/list/filtered-empty.tsx'
import { ListFilters } from '../../components/list/list-filters.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin, useAdminPages, withAnswer } from '../../lib/use-admin.ts'
import { CreateKey } from './create-key.tsx'
import { KEY_FIELDS } from './fields.tsx'
import { KeyDrawer } from './key-drawer.tsx'
import { messages } from './messages.ts'

const LIST = 'GET /accounts/:account_id/keys'

export function Page() {
  const t = useMessages(messages)
  const account = useAccount()
  const params = { account_id: account.id }
  const list = useListState(['search'])
  const request = { params, query: asQuery(LIST, list.filters) }
  const keys = useAdminPages(LIST, request, { live: ['usage'] })
  const balance = useAdmin('GET /accounts/:account_id/balance', { params })
  const currency = balance.data?.currency ?? ''
  const [isCreating, setCreating] = useState(false)
  const create = account.mayCall ? (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
      {t('create')}
    </Button>
  ) : undefined
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} actions={create} />
      <ListFilters messages={messages} list={list} filters={[{ name: 'search', word: 'search' }]} />
      <DataTable
        label={t('title')}
        pages={withAnswer(keys, balance)}
        columns={useColumns(messages, KEY_FIELDS, currency)}
        rowId={(key) => key.id}
        openId={list.openId}
        onOpen={(key) => list.open(key.id)}
        empty={
          <FilteredEmpty
            icon="key"
            isFiltered={list.isFiltered}
            onClear={list.clearFilters}
            title={t('emptyTitle')}
            action={create}
          >
            {t(account.mayCall ? 'emptyText' : 'emptyMember')}
          </FilteredEmpty>
        }
      />
      <CreateKey isOpen={isCreating} currency={currency} onClose={() => setCreating(false)} />
      <KeyDrawer id={list.openId} onClose={list.close} />
    </>
  )
}
