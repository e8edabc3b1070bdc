/** The usage of an account: spend over time, figures per model, and each call. */
import { Button, Group, Menu, SegmentedControl } from '@mantine/core'
import { useMemo } from 'react'
import { Icon } from '../../components/icon.tsx'
import { ButtonLink } from '../../components/links.tsx'
import { DataTable } from '../../components/list/data-table.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { FilteredEmpty } from '../../components/list/filtered-empty.tsx'
import { Filters } from '../../components/list/filters.tsx'
import { InOrder } from '../../components/page/in-order.tsx'
import { PageHeader } from '../../components/page/page-header.tsx'
import { CopyButton } from '../../components/text/copy-button.tsx'
import { adminUrl } from '../../lib/api.ts'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { type ListState, useListState } from '../../lib/list-state.ts'
import { chartSpan } from '../../lib/period.ts'
import { useAccount } from '../../lib/session.tsx'
import { useUrlState } from '../../lib/url-state.ts'
import { useAdmin, useAdminPages } from '../../lib/use-admin.ts'
import { ChosenFigures, type Grouping, readGrouping, SUMMARY, UsageChart } from './chart.tsx'
import { ColumnChoice, exportedMembers, readColumnNames, useCallColumns } from './columns.tsx'
import { CallExplanation } from './explanation.tsx'
import { FILTERS, UsageFilters } from './filters.tsx'
import { messages } from './messages.ts'

const LIST = 'GET /accounts/:account_id/usage'
const EXPORT = 'GET /accounts/:account_id/usage/export'
/** Of the chart and the figures where no period is chosen. */
const CHART_DAYS = 30

export function Page() {
  const t = useMessages(messages)
  const { id: accountId } = useAccount()
  const list = useListState(FILTERS)
  const view = useUrlState(['by', 'columns', 'order'])
  const grouping = readGrouping(view.values.by)
  const summary = useSummary(list.filters, grouping)
  const { openId } = list
  return (
    <>
      <PageHeader
        title={t('title')}
        description={t('description')}
        actions={
          <>
            <CopyButton value={location.href} label={t('copyView')} />
            <ExportMenu filters={list.filters} view={view.values} />
          </>
        }
      />
      <InOrder>
        <Filters>
          <UsageFilters
            list={list}
            endpoints={(summary.data?.endpoints ?? []).map((one) => one.endpoint)}
          />
        </Filters>
        <UsageChart
          summary={summary}
          grouping={grouping}
          onGrouping={(by) => view.set({ by: by === 'model' ? '' : by })}
          isWider={list.filters.status !== '' || list.filters.request_id !== ''}
        />
        {summary.data ? (
          <ChosenFigures
            summary={summary.data}
            grouping={grouping}
            isStale={summary.isPlaceholderData}
          />
        ) : null}
        <Group justify="space-between" gap="xs">
          <OrderChoice
            value={readOrder(view.values.order)}
            onChange={(order) => view.set({ order: order === 'oldest' ? order : '' })}
          />
          <ColumnChoice
            names={readColumnNames(view.values.columns)}
            onChange={(columns) => view.set({ columns })}
          />
        </Group>
        <Calls list={list} view={view.values} />
      </InOrder>
      <DetailDrawer isOpen={openId !== ''} title={t('arithmetic')} onClose={list.close}>
        {openId === '' ? null : <CallExplanation accountId={accountId} requestId={openId} />}
      </DetailDrawer>
    </>
  )
}

type UsageList = ListState<(typeof FILTERS)[number]>
type Order = 'newest' | 'oldest'

interface View {
  readonly columns: string
  readonly order: string
}

const readOrder = (text: string): Order => (text === 'oldest' ? 'oldest' : 'newest')

function useSummary(filters: UsageList['filters'], by: Grouping) {
  const { id } = useAccount()
  const { from, to, model, endpoint, key, member, tag, end_user: endUser } = filters
  const period = useMemo(() => chartSpan({ from, to }, Date.now(), CHART_DAYS), [from, to])
  const query = {
    ...period,
    by,
    time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...(model ? { model } : {}),
    ...(endpoint ? { endpoint } : {}),
    ...(key ? { key } : {}),
    ...(member ? { member } : {}),
    ...(tag ? { tag } : {}),
    ...(endUser ? { end_user: endUser } : {}),
  }
  // Figures of end users read each call: once, and not at every change.
  const isRead = endUser !== '' || by === 'end_user'
  const options = { live: isRead ? [] : (['usage'] as const), keepPrevious: true }
  return useAdmin(SUMMARY, { params: { account_id: id }, query }, options)
}

interface CallsProps {
  readonly list: UsageList
  readonly view: View
}

function Calls({ list, view }: CallsProps) {
  const t = useMessages(messages)
  const { id } = useAccount()
  const query = { ...asQuery(LIST, list.filters), order: readOrder(view.order) }
  const pages = useAdminPages(
    LIST,
    { params: { account_id: id }, query },
    { live: ['usage'], keepPrevious: true },
  )
  return (
    <DataTable
      label={t('title')}
      pages={pages}
      columns={useCallColumns(readColumnNames(view.columns))}
      rowId={(row) => row.request_id}
      onOpen={(row) => list.open(row.request_id)}
      openId={list.openId}
      empty={
        <FilteredEmpty
          icon="chart"
          isFiltered={list.isFiltered}
          onClear={list.clearFilters}
          title={t('emptyTitle')}
          action={<ButtonLink to="/keys">{t('createKey')}</ButtonLink>}
        >
          {t('emptyText')}
        </FilteredEmpty>
      }
    />
  )
}

interface OrderChoiceProps {
  readonly value: Order
  readonly onChange: (order: Order) => void
}

function OrderChoice({ value, onChange }: OrderChoiceProps) {
  const t = useMessages(messages)
  return (
    <SegmentedControl
      size="xs"
      aria-label={t('order')}
      value={value}
      data={[
        { value: 'newest', label: t('newest') },
        { value: 'oldest', label: t('oldest') },
      ]}
      onChange={onChange}
    />
  )
}

interface ExportMenuProps {
  readonly filters: UsageList['filters']
  readonly view: View
}

/** Exports every call of the filters, in the order and with the columns that are shown. */
function ExportMenu({ filters, view }: ExportMenuProps) {
  const t = useMessages(messages)
  const { id } = useAccount()
  const url = (format: 'csv' | 'jsonl') =>
    adminUrl(EXPORT, {
      params: { account_id: id },
      query: {
        ...asQuery(EXPORT, filters),
        order: readOrder(view.order),
        format,
        columns: exportedMembers(readColumnNames(view.columns)),
      },
    })
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <Button variant="default" leftSection={<Icon name="download" size={16} />}>
          {t('export')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href={url('csv')} download="usage.csv">
          {t('exportCsv')}
        </Menu.Item>
        <Menu.Item component="a" href={url('jsonl')} download="usage.jsonl">
          {t('exportJsonl')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
