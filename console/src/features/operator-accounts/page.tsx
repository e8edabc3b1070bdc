/** All accounts with their balances; the details beside the list. */
import { Button } from '@mantine/core'
import { Icon } from '../../components/icon.tsx'
import type { Column } from '../../components/list/data-table.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { SelectFilter, TextFilter } from '../../components/list/filters.tsx'
import { ListPage } from '../../components/list/list-page.tsx'
import { useStatusOptions, WorkStatus } from '../../components/state/work-status.tsx'
import { AccountName } from '../../components/text/account-name.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { nameAccount } from '../../components/text/name-account.ts'
import { TimeText } from '../../components/text/time-text.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { type RowOf, useAdmin, useAdminPages } from '../../lib/use-admin.ts'
import { AccountDetails } from './account-details.tsx'
import { messages } from './messages.ts'
import { NewAccountDialog } from './new-account.tsx'

const KEY = 'GET /operator/accounts'
type Account = RowOf<typeof KEY>

export function Page() {
  const t = useMessages(messages)
  const list = useListState(['search', 'status', 'in_debt'])
  const pages = useAdminPages(KEY, { query: asQuery(KEY, list.filters) }, { keepPrevious: true })
  // `new`, or the currency of the account to add.
  const url = useUrlState(['add', 'id'])
  const states = useStatusOptions(['active', 'suspended'])
  const create = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => url.push({ add: 'new' })}>
      {t('newAccount')}
    </Button>
  )
  return (
    <ListPage
      title={t('title')}
      description={t('description')}
      actions={create}
      filters={
        <>
          <TextFilter label={t('search')} {...list.field('search')} />
          <SelectFilter label={t('status')} options={states} {...list.field('status')} />
          <SelectFilter
            label={t('debt')}
            options={[{ value: 'true', label: t('inDebt') }]}
            {...list.field('in_debt')}
          />
        </>
      }
      list={list}
      pages={pages}
      columns={useColumns()}
      rowId={(row) => row.id}
      empty={{ icon: 'users', title: t('emptyTitle'), text: t('emptyText'), action: create }}
    >
      <OpenAccount id={list.openId} onClose={list.close} />
      <NewAccountDialog
        adding={url.values.add}
        onClose={() => url.push({ add: '' })}
        onCreated={(id) => url.push({ add: '', id })}
      />
    </ListPage>
  )
}

/** Fetched by its id, so that a link to an account works wherever the list begins. */
function OpenAccount({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const account = useAdmin(
    'GET /operator/accounts/:account_id',
    { params: { account_id: id } },
    { enabled: id !== '' },
  )
  const shown = id === '' ? undefined : account.data
  return (
    <DetailDrawer isOpen={id !== ''} title={shown ? nameAccount(shown) : id} onClose={onClose}>
      {shown ? <AccountDetails key={shown.id} account={shown} /> : null}
    </DetailDrawer>
  )
}

function useColumns(): Column<Account>[] {
  const t = useMessages(messages)
  const money = (amount: string, { currency }: Account) => (
    <MoneyText amount={amount} currency={currency} places={2} />
  )
  return [
    { key: 'name', header: t('name'), render: (row) => <AccountName {...row} /> },
    { key: 'status', header: t('status'), render: (row) => <WorkStatus status={row.status} /> },
    {
      key: 'available',
      header: t('available'),
      render: (row) => money(row.available, row),
      align: 'right',
    },
    {
      key: 'held',
      header: t('held'),
      render: (row) => money(row.held, row),
      align: 'right',
      minor: true,
    },
    { key: 'debt', header: t('debt'), render: (row) => money(row.debt, row), align: 'right' },
    { key: 'keys', header: t('keys'), render: (row) => row.keys, align: 'right', minor: true },
    {
      key: 'created',
      header: t('created'),
      render: (row) => <TimeText time={row.created_at} />,
      isTime: true,
      minor: true,
    },
  ]
}
