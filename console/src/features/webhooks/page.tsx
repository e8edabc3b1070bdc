/** The webhooks of an account: the secret, a test, and all deliveries with their attempts. */

import { Button, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { DELIVERY_STATES } from '../../../../server/base/lib/kinds-and-states.ts'
import { CheckedField } from '../../components/form/checked-form.tsx'
import { Dialog } from '../../components/form/dialog.tsx'
import { RedeliverDropped } from '../../components/form/redeliver-dialog.tsx'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { DataTable } from '../../components/list/data-table.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { type RowFields, useColumns } from '../../components/list/fields.tsx'
import { FilteredEmpty } from '../../components/list/filtered-empty.tsx'
import { ListFilters } from '../../components/list/list-filters.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { useStatusOptions } from '../../components/state/work-status.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { useAccount } from '../../lib/session.tsx'
import { type RowOf, useAdminChange, useAdminPages } from '../../lib/use-admin.ts'
import { DeliveryDetails } from './delivery-details.tsx'
import { messages } from './messages.ts'
import { Secret } from './secret.tsx'
import { Verify } from './verify.tsx'

const LIST = 'GET /accounts/:account_id/webhooks/deliveries'
const REDELIVER = 'POST /accounts/:account_id/webhooks/deliveries/redeliver'
const REFRESH_MS = 4_000

const FIELDS: RowFields<RowOf<typeof LIST>, (typeof messages)['en']> = [
  { key: 'created_at', word: 'created', as: 'time' },
  { key: 'kind', as: 'kind' },
  { key: 'status', as: 'status' },
  { key: 'attempts', align: 'right' },
  {
    word: 'last',
    minor: true,
    show: ({ last }, { textOf }) => last?.status ?? (last?.error ? textOf(last.error) : '–'),
  },
  { key: 'url', minor: true },
]

export function Page() {
  const t = useMessages(messages)
  const { id: accountId, isOwner } = useAccount()
  const [isTesting, setTesting] = useState(false)
  const test = (
    <Button variant="default" onClick={() => setTesting(true)}>
      {t('test')}
    </Button>
  )
  return (
    <>
      <PageHeader
        title={t('title')}
        description={t('description')}
        actions={isOwner ? test : null}
      />
      <Stack gap="md">
        <Secret accountId={accountId} isOwner={isOwner} />
        <Verify />
        <Deliveries accountId={accountId} />
      </Stack>
      <TestDialog accountId={accountId} isOpen={isTesting} onClose={() => setTesting(false)} />
    </>
  )
}

function Deliveries({ accountId }: { readonly accountId: string }) {
  const t = useMessages(messages)
  const list = useListState(['status', 'task_id', 'host', 'from', 'to'])
  const again = useAdminChange(REDELIVER, { refreshes: [LIST] })
  const params = { account_id: accountId }
  const { openId } = list
  const request = { params, query: asQuery(LIST, list.filters) }
  const pages = useAdminPages(LIST, request, {
    live: ['deliveries'] as const,
    keepPrevious: true,
    // A delivery may begin and end between two polls of the server for changes.
    refetchEveryMs: REFRESH_MS,
  })
  const states = useStatusOptions(DELIVERY_STATES)
  return (
    <section aria-label={t('deliveries')}>
      <ListFilters
        messages={messages}
        list={list}
        filters={[
          { name: 'task_id', word: 'taskId' },
          { name: 'host', word: 'host' },
          { name: 'status', word: 'status', options: states },
          'time',
        ]}
      >
        <RedeliverDropped
          filters={list.filters}
          onSend={(body) => again.mutateAsync({ params, body })}
        />
      </ListFilters>
      <DataTable
        label={t('deliveries')}
        pages={pages}
        columns={useColumns(messages, FIELDS)}
        rowId={(row) => row.id}
        onOpen={(row) => list.open(row.id)}
        openId={openId}
        empty={
          <FilteredEmpty
            icon="hook"
            isFiltered={list.isFiltered}
            onClear={list.clearFilters}
            title={t('emptyTitle')}
          >
            {t('emptyText')}
          </FilteredEmpty>
        }
      />
      <DetailDrawer isOpen={openId !== ''} title={t('deliveries')} onClose={list.close}>
        {openId === '' ? null : (
          <DeliveryDetails
            key={openId}
            accountId={accountId}
            deliveryId={openId}
            onOpen={list.open}
          />
        )}
      </DetailDrawer>
    </section>
  )
}

interface TestDialogProps {
  readonly accountId: string
  readonly isOpen: boolean
  readonly onClose: () => void
}

function TestDialog({ accountId, isOpen, onClose }: TestDialogProps) {
  const t = useMessages(messages)
  const send = useAdminChange('POST /accounts/:account_id/webhooks/test', { refreshes: [LIST] })
  return (
    <Dialog isOpen={isOpen} title={t('test')} onClose={onClose}>
      <SubmitForm
        act={t('test')}
        onCancel={onClose}
        onSend={async ({ url = '' }) => {
          await send.mutateAsync({ params: { account_id: accountId }, body: { url } })
          notifyDone(t('tested'))
          onClose()
        }}
      >
        <CheckedField param="url">
          {(error) => (
            <TextInput
              name="url"
              type="url"
              label={t('testUrl')}
              error={error}
              required
              maxLength={2048}
              data-autofocus
            />
          )}
        </CheckedField>
      </SubmitForm>
    </Dialog>
  )
}
