/** All accounts with their balances; the details beside the list. */
import { Button } from '@mantine/core'
import { Icon } from '../../components/icon.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { ListPage } from '../../components/list/list-page.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { useStatusOptions } from '../../components/state/work-status.tsx'
import { nameAccount } from '../../components/text/name-account.ts'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { useAdmin, useAdminPages } from '../../lib/use-admin.ts'
import { AccountDetails } from './account-details.tsx'
import { ACCOUNT_FIELDS } from './fields.tsx'
import { messages } from './messages.ts'
import { NewAccountDialog } from './new-account.tsx'

const KEY = 'GET /operator/accounts'

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
      messages={messages}
      fields={ACCOUNT_FIELDS}
      actions={create}
      filters={[
        { name: 'search', word: 'search' },
        { name: 'status', word: 'status', options: states },
        { name: 'in_debt', word: 'debt', option: 'inDebt' },
      ]}
      list={list}
      pages={pages}
      rowId={(row) => row.id}
      icon="users"
      emptyAction={create}
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
      {id !== '' && account.error ? (
        <ErrorState error={account.error} onRetry={() => void account.refetch()} />
      ) : null}
    </DetailDrawer>
  )
}
