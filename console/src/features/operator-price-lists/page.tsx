/** Price lists: the lists themselves, their prices side by side, and those of one account. */
import { Button, SegmentedControl, Stack } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { ButtonLink } from '../../components/links.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useUrlState } from '../../lib/url-state.ts'
import { useAdmin } from '../../lib/use-admin.ts'
import { CustomerPrices } from './customer-prices.tsx'
import { ListForm, type SavedList } from './list-form.tsx'
import { Lists } from './lists.tsx'
import { Matrix } from './matrix.tsx'
import { messages } from './messages.ts'

export function Page() {
  const { values } = useUrlState(['account'])
  return values.account === '' ? <AllLists /> : <OneCustomer accountId={values.account} />
}

const VIEWS = ['lists', 'matrix'] as const

function AllLists() {
  const t = useMessages(messages)
  const url = useUrlState(['view', 'add', 'id'])
  const [saved, setSaved] = useState<SavedList>({ id: '', warnings: [] })
  const isMatrix = url.values.view === 'matrix'
  const create = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => url.push({ add: 'new' })}>
      {t('create')}
    </Button>
  )
  const words = { lists: t('viewLists'), matrix: t('viewMatrix') }
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} actions={create} />
      <SegmentedControl
        size="xs"
        mb="md"
        aria-label={t('view')}
        value={isMatrix ? 'matrix' : 'lists'}
        data={VIEWS.map((value) => ({ value, label: words[value] }))}
        onChange={(view) => url.set({ view: view === 'matrix' ? view : '' })}
      />
      {isMatrix ? <Matrix /> : <Lists create={create} saved={saved} onSaved={setSaved} />}
      <DetailDrawer
        isOpen={url.values.add !== ''}
        title={t('create')}
        onClose={() => url.push({ add: '' })}
      >
        <ListForm
          onSaved={(now) => {
            setSaved(now)
            url.push({ add: '', view: '', id: now.id })
          }}
          onClose={() => url.push({ add: '' })}
        />
      </DetailDrawer>
    </>
  )
}

function OneCustomer({ accountId }: { readonly accountId: string }) {
  const t = useMessages(messages)
  const params = { account_id: accountId }
  const { data } = useAdmin('GET /operator/accounts/:account_id', { params })
  return (
    <>
      <PageHeader
        title={t('customerTitle', { account: data?.name ?? accountId })}
        actions={
          <>
            <ButtonLink to="/operator/accounts" search={{ id: accountId }} variant="default">
              {t('account')}
            </ButtonLink>
            <ButtonLink to="/operator/price-lists" variant="default">
              {t('title')}
            </ButtonLink>
          </>
        }
      />
      <Stack gap="md">
        <CustomerPrices key={accountId} accountId={accountId} />
      </Stack>
    </>
  )
}
