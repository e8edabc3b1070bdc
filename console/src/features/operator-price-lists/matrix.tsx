/** The prices of models on several lists, side by side. */
import { Group, MultiSelect, Text } from '@mantine/core'
import { MODEL_TYPES } from '../../../../server/money/catalog/model-types.ts'
import { DataTable } from '../../components/list/data-table.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { FilteredEmpty } from '../../components/list/filtered-empty.tsx'
import { ListFilters } from '../../components/list/list-filters.tsx'
import type { Column } from '../../components/list/row-table.tsx'
import { PriceLines } from '../../components/prices/price-list.tsx'
import { useModelTypeName } from '../../components/text/model-type.ts'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { type RowOf, useAdminPages } from '../../lib/use-admin.ts'
import { useSharedLists } from './list-select.tsx'
import { messages } from './messages.ts'
import { BASE_LIST, LINES_SHOWN, PriceCell, PriceMargin } from './price-cell.tsx'
import { PriceDetails } from './price-details.tsx'

const KEY = 'GET /operator/prices'
type Row = RowOf<typeof KEY>

const COMPARED_MAX = 20

export function Matrix() {
  const t = useMessages(messages)
  const list = useListState(['search', 'type', 'lists', 'below_cost'], 'model')
  const typeName = useModelTypeName()
  const pages = useAdminPages(KEY, { query: asQuery(KEY, list.filters) }, { keepPrevious: true })
  const open = pages.rows.find(({ model }) => model === list.openId)
  const words = { model: t('model'), margin: t('margin'), cost: t('cost') }
  const nameOfList = (id: string) => (id === BASE_LIST ? t('base') : id)
  return (
    <>
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
      >
        <ListChoice {...list.field('lists')} />
      </ListFilters>
      <DataTable
        label={t('title')}
        pages={pages}
        columns={columnsOfRows(pages.rows, words, nameOfList)}
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
        {open?.prices.map((shown) => (
          <PriceDetails
            key={shown.price_list}
            title={nameOfList(shown.price_list)}
            shown={shown}
            on={shown.price_list}
          />
        ))}
      </DetailDrawer>
    </>
  )
}

/** A column for each list that the rows have. */
function columnsOfRows(
  rows: readonly Row[],
  words: Readonly<Record<'model' | 'margin' | 'cost', string>>,
  nameOfList: (id: string) => string,
): readonly Column<Row>[] {
  const ids = rows[0]?.prices.map(({ price_list: id }) => id) ?? [BASE_LIST]
  return [
    { key: 'model', header: words.model, render: (row) => row.model },
    {
      key: 'cost',
      header: words.cost,
      minor: true,
      render: ({ prices: [first] }) =>
        first?.cost ? (
          <PriceLines currency={first.currency} prices={first.cost} most={LINES_SHOWN} />
        ) : (
          '–'
        ),
    },
    ...ids.map(
      (id, index): Column<Row> => ({
        key: id,
        header: nameOfList(id),
        wide: true,
        render: (row) => {
          const shown = row.prices[index]
          return shown ? (
            <>
              <PriceCell shown={shown} on={id} />
              {shown.is_sold && shown.prices.length > 0 ? (
                <Group gap={6}>
                  <Text size="xs" c="dimmed" component="span">
                    {words.margin}
                  </Text>
                  <PriceMargin shown={shown} />
                </Group>
              ) : null}
            </>
          ) : (
            '–'
          )
        },
      }),
    ),
  ]
}

interface ListChoiceProps {
  /** Ids with commas; '' for the first lists. */
  readonly value: string
  readonly onChange: (ids: string) => void
}

function ListChoice({ value, onChange }: ListChoiceProps) {
  const t = useMessages(messages)
  const chosen = value === '' ? [] : value.split(',')
  const offered = [BASE_LIST, ...useSharedLists().map(({ id }) => id)]
  return (
    <MultiSelect
      aria-label={t('compare')}
      placeholder={chosen.length === 0 ? t('compare') : ''}
      size="xs"
      searchable
      clearable
      maxValues={COMPARED_MAX}
      data={[...new Set([...offered, ...chosen])].map((id) => ({
        value: id,
        label: id === BASE_LIST ? t('base') : id,
      }))}
      value={chosen}
      onChange={(ids) => onChange(ids.join(','))}
    />
  )
}
