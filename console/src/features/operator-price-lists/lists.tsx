/** The price lists, and one of them beside the list. */
import { Button, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { ConfirmButton } from '../../components/form/confirm-dialog.tsx'
import { ButtonLink, TextLink } from '../../components/links.tsx'
import { DataTable } from '../../components/list/data-table.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { FieldFacts, type RowFields, useColumns } from '../../components/list/fields.tsx'
import { FilteredEmpty } from '../../components/list/filtered-empty.tsx'
import { ListFilters } from '../../components/list/list-filters.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { type RowOf, useAdmin, useAdminChange, useAdminPages } from '../../lib/use-admin.ts'
import { BelowCost } from './below-cost.tsx'
import type { EditedList } from './draft.ts'
import { ListForm, type SavedList } from './list-form.tsx'
import { ListTermsFacts } from './list-terms.tsx'
import { messages } from './messages.ts'
import { BASE_LIST } from './price-cell.tsx'

const KEY = 'GET /operator/price-lists'
type Row = RowOf<typeof KEY>

const FIELDS: RowFields<Row, (typeof messages)['en']> = [
  {
    word: 'id',
    show: ({ id, account_id: account }, { t }) => (account === null ? id : t('ownOf', { account })),
  },
  {
    word: 'parent',
    show: ({ parent }, { t }) => (parent === BASE_LIST ? t('base') : parent),
  },
  { key: 'currency' },
  { key: 'models', word: 'named', as: 'count' },
  { key: 'accounts', as: 'count' },
  { key: 'status', as: 'status' },
  { key: 'source', in: 'details' },
  { key: 'updated_at', word: 'changed', as: 'time', minor: true },
]

interface ListsProps {
  /** Opens the form of a new list. */
  readonly create: React.ReactNode
  /** The list that was saved last. */
  readonly saved: SavedList
  readonly onSaved: (saved: SavedList) => void
}

export function Lists({ create, saved, onSaved }: ListsProps) {
  const t = useMessages(messages)
  const list = useListState(['search', 'own', 'retired'])
  const pages = useAdminPages(KEY, { query: asQuery(KEY, list.filters) }, { keepPrevious: true })
  return (
    <>
      <ListFilters
        messages={messages}
        list={list}
        filters={[
          { name: 'search', word: 'search' },
          { name: 'own', word: 'own', option: 'ownOnly' },
          { name: 'retired', word: 'status', option: 'showRetired' },
        ]}
      />
      <DataTable
        label={t('title')}
        pages={pages}
        columns={useColumns(messages, FIELDS)}
        rowId={({ id }) => id}
        onOpen={({ id }) => list.open(id)}
        openId={list.openId}
        empty={
          <FilteredEmpty
            icon="list"
            isFiltered={list.isFiltered}
            onClear={list.clearFilters}
            title={t('emptyTitle')}
            action={create}
          >
            {t('emptyText')}
          </FilteredEmpty>
        }
      />
      <OpenList id={list.openId} saved={saved} onSaved={onSaved} onClose={list.close} />
    </>
  )
}

interface OpenListProps extends Omit<ListsProps, 'create'> {
  readonly id: string
  readonly onClose: () => void
}

function OpenList({ id, onClose, ...props }: OpenListProps) {
  const { data, error, refetch } = useAdmin(
    'GET /operator/price-lists/:list_id',
    { params: { list_id: id } },
    { enabled: id !== '' },
  )
  const shown = id === '' ? undefined : data
  return (
    <DetailDrawer isOpen={id !== ''} title={id} onClose={onClose}>
      {shown ? <Details key={shown.id} list={shown} onClose={onClose} {...props} /> : null}
      {error ? <ErrorState error={error} onRetry={() => void refetch()} /> : null}
    </DetailDrawer>
  )
}

interface DetailsProps extends Omit<OpenListProps, 'id'> {
  readonly list: EditedList
}

function Details({ list, saved, onSaved, onClose }: DetailsProps) {
  const warnings = saved.id === list.id ? saved.warnings : []
  const t = useMessages(messages)
  const [isEditing, setEditing] = useState(false)
  if (isEditing) {
    return (
      <ListForm
        stored={list}
        onSaved={(now) => {
          setEditing(false)
          onSaved(now)
        }}
        onClose={() => setEditing(false)}
      />
    )
  }
  const account = list.account_id
  return (
    <Stack gap="md">
      <BelowCost warnings={warnings} />
      <Group gap="xs">
        {account === null ? (
          <>
            <Button variant="default" size="compact-sm" onClick={() => setEditing(true)}>
              {t('edit')}
            </Button>
            {list.status === 'active' ? <Retirement id={list.id} onRetired={onClose} /> : null}
            <ButtonLink
              to="/operator/price-lists"
              search={{ view: 'matrix', lists: `${BASE_LIST},${list.id}` }}
              variant="subtle"
              size="compact-sm"
            >
              {t('showMatrix')}
            </ButtonLink>
          </>
        ) : (
          <TextLink to="/operator/price-lists" search={{ account }} size="sm">
            {t('customerTitle', { account })}
          </TextLink>
        )}
      </Group>
      <FieldFacts messages={messages} fields={FIELDS} row={list} />
      <ListTermsFacts list={list} />
    </Stack>
  )
}

function Retirement({ id, onRetired }: { readonly id: string; readonly onRetired: () => void }) {
  const t = useMessages(messages)
  const retire = useAdminChange('DELETE /operator/price-lists/:list_id')
  return (
    <ConfirmButton
      size="compact-sm"
      title={`${t('retire')}: ${id}`}
      act={t('retire')}
      isDangerous
      onConfirm={async () => {
        await retire.mutateAsync({ params: { list_id: id } })
        notifyDone(t('retired', { id }))
        onRetired()
      }}
    >
      {t('retireText')}
    </ConfirmButton>
  )
}
