/** The prices of one account, model by model. */
import { MODEL_TYPES } from '../../../../server/money/catalog/model-types.ts'
import { DataTable } from '../../components/list/data-table.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { type RowFields, useColumns } from '../../components/list/fields.tsx'
import { FilteredEmpty } from '../../components/list/filtered-empty.tsx'
import { ListFilters } from '../../components/list/list-filters.tsx'
import { PriceLines } from '../../components/prices/price-list.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { useModelTypeName } from '../../components/text/model-type.ts'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { type RowOf, useAdmin, useAdminPages } from '../../lib/use-admin.ts'
import { CustomerPanel } from './customer.tsx'
import { messages } from './messages.ts'
import { LINES_SHOWN, PriceCell, PriceMargin } from './price-cell.tsx'
import { PriceDetails } from './price-details.tsx'

const KEY = 'GET /operator/accounts/:account_id/prices'
type Row = RowOf<typeof KEY>

const FIELDS: RowFields<Row, (typeof messages)['en']> = [
  { key: 'model' },
  { word: 'pays', wide: true, show: (row) => <PriceCell shown={row} /> },
  {
    word: 'basePrice',
    wide: true,
    show: ({ base_prices: base, currency }) =>
      base ? <PriceLines currency={currency} prices={base} most={LINES_SHOWN} /> : '–',
  },
  {
    word: 'cost',
    minor: true,
    show: ({ cost, currency }, { t }) =>
      cost ? <PriceLines currency={currency} prices={cost} most={LINES_SHOWN} /> : t('unknown'),
  },
  { word: 'margin', align: 'right', show: (row) => <PriceMargin shown={row} /> },
]

export function CustomerPrices({ accountId }: { readonly accountId: string }) {
  const t = useMessages(messages)
  const params = { account_id: accountId }
  const list = useListState(['search', 'type', 'below_cost'], 'model')
  const typeName = useModelTypeName()
  const account = useAdmin('GET /operator/accounts/:account_id', { params })
  const about = useAdmin(KEY, { params, query: { limit: 1 } })
  const request = { params, query: asQuery(KEY, list.filters) }
  const pages = useAdminPages(KEY, request, { keepPrevious: true })
  const columns = useColumns(messages, FIELDS)
  const open = pages.rows.find(({ model }) => model === list.openId)
  if (account.error && !account.data) {
    return <ErrorState error={account.error} onRetry={() => void account.refetch()} />
  }
  return (
    <>
      {account.data && about.data ? (
        <CustomerPanel account={account.data} prices={about.data} />
      ) : null}
      <ListFilters
        messages={messages}
        list={list}
        filters={[
          { name: 'search', word: 'searchModel' },
          {
            name: 'type',
            word: 'type',
            options: MODEL_TYPES.map((value) => ({ value, label: typeName(value) })),
          },
          { name: 'below_cost', word: 'margin', option: 'onlyBelow' },
        ]}
      />
      <DataTable
        label={t('prices')}
        pages={pages}
        columns={columns}
        rowId={({ model }) => model}
        onOpen={({ model }) => list.open(model)}
        openId={list.openId}
        empty={
          <FilteredEmpty
            icon="tag"
            isFiltered={list.isFiltered}
            onClear={list.clearFilters}
            title={t('noModels')}
          >
            {t('noModelsText')}
          </FilteredEmpty>
        }
      />
      <DetailDrawer isOpen={open !== undefined} title={list.openId} onClose={list.close}>
        {open ? <PriceDetails title={t('pays')} shown={open} /> : null}
      </DetailDrawer>
    </>
  )
}
