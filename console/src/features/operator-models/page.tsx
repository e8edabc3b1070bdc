/** Every model with its prices and routes. */
import { Button, Switch, Text } from '@mantine/core'
import { SimulatorsNotice } from '../../components/form/simulators-notice.tsx'
import { Icon } from '../../components/icon.tsx'
import { type Column, DataTable } from '../../components/list/data-table.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { FilteredEmpty } from '../../components/list/filtered-empty.tsx'
import { Filters, SelectFilter, TextFilter } from '../../components/list/filters.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { PriceLines } from '../../components/prices/price-list.tsx'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { WorkStatus } from '../../components/state/work-status.tsx'
import { useModelTypeName } from '../../components/text/model-type.ts'
import type { AdminAnswer } from '../../lib/api.ts'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages, useServerText } from '../../lib/i18n.tsx'
import { MODEL_TYPE_ORDER } from '../../lib/model-types.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { asPages, useAdmin } from '../../lib/use-admin.ts'
import { AddModel } from './add/add-model.tsx'
import { MarginShare, smallestMargin } from './margins.tsx'
import { messages } from './messages.ts'
import { ModelDetails } from './model-details.tsx'
import { PriceBook } from './price-book.tsx'
import { sortProblems, useProblemWords } from './price-problems.tsx'
import { useToolName } from './taken-out.tsx'

const KEY = 'GET /operator/models'
type Row = AdminAnswer<typeof KEY>['data'][number]

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
        columns={useColumns()}
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
        options={MODEL_TYPE_ORDER.map((value) => ({ value, label: typeName(value) }))}
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
    </DetailDrawer>
  )
}

function useColumns(): Column<Row>[] {
  const t = useMessages(messages)
  const typeName = useModelTypeName()
  return [
    { key: 'id', header: t('id'), render: (row) => row.id },
    { key: 'type', header: t('type'), render: (row) => typeName(row.type) },
    {
      key: 'prices',
      header: t('prices'),
      wide: true,
      render: ({ free, currency, prices }) =>
        free ? (
          <Text size="sm" c="dimmed">
            {t('free')}
          </Text>
        ) : (
          <PriceLines currency={currency ?? 'CNY'} prices={prices} most={2} />
        ),
    },
    {
      key: 'costs',
      header: t('cost'),
      render: ({ routes: [first] }) =>
        first?.costs ? (
          <PriceLines currency={first.currency ?? 'CNY'} prices={first.costs} most={2} />
        ) : (
          '–'
        ),
      minor: true,
    },
    {
      key: 'margin',
      header: t('margin'),
      render: ({ margins }) => {
        const { margin = null, margin_share: share = null } = smallestMargin(margins) ?? {}
        return <MarginShare margin={margin} share={share} />
      },
    },
    {
      key: 'routes',
      header: t('routes'),
      render: ({ routes }) => [...new Set(routes.map(({ channel }) => channel))].join(', '),
      minor: true,
    },
    {
      key: 'status',
      header: t('status'),
      wide: true,
      render: (row) => <ModelState row={row} />,
    },
  ]
}

/** Sort order: losses, then problems, then tools that are taken out, then planned prices. */
function ModelState({ row }: { readonly row: Row }) {
  const t = useMessages(messages)
  const say = useProblemWords()
  const textOf = useServerText()
  const nameOf = useToolName()
  const { status, warnings, price_problems: problems, planned_prices: plans } = row
  const [loss] = sortProblems(problems).filter(({ problem }) => problem !== 'unknown_cost')
  if (status === 'active' && loss) return <StatusBadge tone="bad" label={say(loss)} isLong />
  const [warning] = warnings
  if (warning) return <StatusBadge tone="warning" label={textOf(warning)} isLong />
  const [takenOut] = status === 'active' ? row.tools_taken_out : []
  if (takenOut) {
    const tool = nameOf(takenOut.tool)
    return <StatusBadge tone="quiet" label={t('takenOutState', { tool })} isLong />
  }
  if (plans.length > 0) return <StatusBadge tone="busy" label={t('planned')} />
  return <WorkStatus status={status} />
}
