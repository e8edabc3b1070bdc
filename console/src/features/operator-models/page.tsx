/** Every model with its prices and routes. */
import { Button, Switch, Text } from '@mantine/core'
import { MODEL_TYPES } from '../../../../server/money/catalog/model-types.ts'
import { SimulatorsNotice } from '../../components/form/simulators-notice.tsx'
import { Icon } from '../../components/icon.tsx'
import { DataTable } from '../../components/list/data-table.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { type RowFields, useColumns } from '../../components/list/fields.tsx'
import { FilteredEmpty } from '../../components/list/filtered-empty.tsx'
import { Filters, SelectFilter, TextFilter } from '../../components/list/filters.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { MarginShare, smallestMargin } from '../../components/prices/margins.tsx'
import { PriceLines } from '../../components/prices/price-list.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { useModelTypeName } from '../../components/text/model-type.ts'
import type { AdminAnswer } from '../../lib/api.ts'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useUrlState } from '../../lib/url-state.ts'
import { asPages, useAdmin } from '../../lib/use-admin.ts'
import { AddModel } from './add/add-model.tsx'
import { messages } from './messages.ts'
import { ModelDetails } from './model-details.tsx'
import { ModelState } from './model-state.tsx'
import { PriceBook } from './price-book.tsx'

const KEY = 'GET /operator/models'
type Row = AdminAnswer<typeof KEY>['data'][number]

const FIELDS: RowFields<Row, (typeof messages)['en']> = [
  { word: 'id', show: (row) => <NameAndType row={row} /> },
  { key: 'type', as: 'kind', minor: true },
  { word: 'prices', wide: true, isPlain: true, show: (row) => <Prices row={row} /> },
  { word: 'margin', show: ({ margins }) => <SmallestMargin margins={margins} /> },
  {
    word: 'routes',
    minor: true,
    show: ({ routes }) => [...new Set(routes.map(({ channel }) => channel))].join(', '),
  },
  { word: 'status', isBroad: true, show: (row) => <ModelState row={row} /> },
]

function usePageState() {
  return useUrlState(['search', 'type', 'retired', 'id', 'book', 'add', 'channel'])
}

export function Page() {
  const t = useMessages(messages)
  const url = usePageState()
  const { id, search, type, retired } = url.values
  const filters = { search, type, retired }
  const models = useAdmin(KEY, { query: asQuery(KEY, filters) }, { keepPrevious: true })
  const add = (
    <Button
      leftSection={<Icon name="plus" size={16} />}
      onClick={() => url.push({ add: 'choose' })}
    >
      {t('newModel')}
    </Button>
  )
  return (
    <>
      <PageHeader
        title={t('title')}
        description={t('description')}
        actions={
          <>
            <Button variant="default" onClick={() => url.push({ book: 'choose' })}>
              {t('fromBook')}
            </Button>
            {add}
          </>
        }
      />
      <SimulatorsNotice />
      <ModelFilters filters={filters} set={url.set} />
      <DataTable
        label={t('title')}
        pages={asPages(models)}
        columns={useColumns(messages, FIELDS)}
        rowId={(row) => row.id}
        onOpen={(row) => url.push({ id: row.id })}
        openId={id}
        empty={
          <FilteredEmpty
            icon="tag"
            isFiltered={filters.search !== '' || filters.type !== ''}
            onClear={() => url.set({ search: '', type: '' })}
            title={t('emptyTitle')}
            action={add}
          >
            {t('emptyText')}
          </FilteredEmpty>
        }
      />
      <OpenModel id={id} onClose={() => url.push({ id: '' })} />
      <AddDrawers url={url} />
    </>
  )
}

/** The drawers in which models are added: from a price book, or from a channel. */
function AddDrawers({ url }: { readonly url: ReturnType<typeof usePageState> }) {
  const t = useMessages(messages)
  const { book, add: step, channel } = url.values
  return (
    <>
      <DetailDrawer
        isOpen={book !== ''}
        title={t('fromBook')}
        onClose={() => url.push({ book: '' })}
      >
        <PriceBook book={book} onChoose={(chosen) => url.set({ book: chosen })} />
      </DetailDrawer>
      <DetailDrawer
        isOpen={step !== ''}
        title={t('newModel')}
        onClose={() => url.push({ add: '', channel: '' })}
      >
        {step === '' ? null : (
          <AddModel
            key={`${step} ${channel}`}
            step={step}
            channel={channel}
            onStep={(next, from) => url.set({ add: next, channel: from })}
            onBook={(vendor) => url.push({ add: '', channel: '', book: vendor })}
            onOpen={(model) => url.push({ add: '', channel: '', id: model })}
          />
        )}
      </DetailDrawer>
    </>
  )
}

interface ModelFiltersProps {
  readonly filters: Readonly<Record<'search' | 'type' | 'retired', string>>
  readonly set: (changes: Partial<ModelFiltersProps['filters']>) => void
}

function ModelFilters({ filters, set }: ModelFiltersProps) {
  const t = useMessages(messages)
  const typeName = useModelTypeName()
  return (
    <Filters>
      <TextFilter
        label={t('search')}
        value={filters.search}
        onChange={(search) => set({ search })}
      />
      <SelectFilter
        label={t('type')}
        value={filters.type}
        options={MODEL_TYPES.map((value) => ({ value, label: typeName(value) }))}
        onChange={(type) => set({ type })}
      />
      <Switch
        size="xs"
        label={t('showRetired')}
        checked={filters.retired === 'true'}
        onChange={({ currentTarget }) => set({ retired: currentTarget.checked ? 'true' : '' })}
      />
    </Filters>
  )
}

function OpenModel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const model = useAdmin(
    'GET /operator/models/:model_id',
    { params: { model_id: id } },
    { enabled: id !== '' },
  )
  const shown = id === '' ? undefined : model.data
  return (
    <DetailDrawer isOpen={id !== ''} title={id} onClose={onClose}>
      {shown ? <ModelDetails key={shown.id} model={shown} onClose={onClose} /> : null}
      {id !== '' && model.error ? (
        <ErrorState error={model.error} onRetry={() => void model.refetch()} />
      ) : null}
    </DetailDrawer>
  )
}

function Prices({ row: { free, currency, prices } }: { readonly row: Row }) {
  const t = useMessages(messages)
  if (!free) return <PriceLines currency={currency ?? 'CNY'} prices={prices} most={2} />
  return (
    <Text size="sm" c="dimmed">
      {t('free')}
    </Text>
  )
}

function SmallestMargin({ margins }: Pick<Row, 'margins'>) {
  const { margin = null, margin_share: share = null } = smallestMargin(margins) ?? {}
  return <MarginShare margin={margin} share={share} />
}

/** On a phone the type stands beside the name, so that a card has one line less. */
function NameAndType({ row: { id, type } }: { readonly row: Row }) {
  const typeName = useModelTypeName()
  return (
    <>
      <span>{id}</span>
      <Text component="span" hiddenFrom="sm" size="xs" fw={400} c="dimmed" ml={8}>
        {typeName(type)}
      </Text>
    </>
  )
}
