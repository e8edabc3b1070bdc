/** The keys of an account: a list, with the details beside it. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { DataTable } from '../../components/list/data-table.tsx'
import { EmptyState } from '../../components/list/empty-state.tsx'
import { useColumns } from '../../components/list/fields.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useUrlState } from '../../lib/url-state.ts'
import { useAdmin, useAdminPages, withAnswer } from '../../lib/use-admin.ts'
import { CreateKey } from './create-key.tsx'
import { KEY_FIELDS } from './fields.tsx'
import { KeyDrawer } from './key-drawer.tsx'
import { messages } from './messages.ts'

export function Page() {
  const t = useMessages(messages)
  const account = useAccount()
  const params = { account_id: account.id }
  const url = useUrlState(['id'])
  const keys = useAdminPages('GET /accounts/:account_id/keys', { params }, { live: ['usage'] })
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
      <DataTable
        label={t('title')}
        pages={withAnswer(keys, balance)}
        columns={useColumns(messages, KEY_FIELDS, currency)}
        rowId={(key) => key.id}
        openId={url.values.id}
        onOpen={(key) => url.push({ id: key.id })}
        empty={
          <EmptyState icon="key" title={t('emptyTitle')} action={create}>
            {t(account.mayCall ? 'emptyText' : 'emptyMember')}
          </EmptyState>
        }
      />
      <CreateKey isOpen={isCreating} currency={currency} onClose={() => setCreating(false)} />
      <KeyDrawer id={url.values.id} onClose={() => url.set({ id: '' })} />
    </>
  )
}
