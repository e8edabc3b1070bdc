/** The calls of all accounts, the newest first. */
import { Stack, Text } from '@mantine/core'
import { TextLink } from '../../components/links.tsx'
import type { Column } from '../../components/list/data-table.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { SelectFilter, TextFilter } from '../../components/list/filters.tsx'
import { ListPage } from '../../components/list/list-page.tsx'
import { PeriodPicker } from '../../components/list/period-picker.tsx'
import { useStatusOptions, WorkStatus } from '../../components/state/work-status.tsx'
import { AccountName } from '../../components/text/account-name.tsx'
import { CopyText } from '../../components/text/copy-button.tsx'
import { KeyValue } from '../../components/text/key-value.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { OneLine } from '../../components/text/one-line.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { formatDuration } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { type ListState, useListState } from '../../lib/list-state.ts'
import { type RowOf, useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import { Tries } from './tries.tsx'

const KEY = 'GET /operator/calls'
type Call = RowOf<typeof KEY>
const FILTERS = [
  ...(['account', 'model', 'endpoint', 'status', 'review', 'loss', 'request_id'] as const),
  ...(['from', 'to'] as const),
] as const

export function Page() {
  const t = useMessages(messages)
  const list = useListState(FILTERS)
  const pages = useAdminPages(KEY, { query: asQuery(KEY, list.filters) }, { keepPrevious: true })
  const open = pages.rows.find((row) => row.request_id === list.openId)
  return (
    <ListPage
      title={t('title')}
      description={t('description')}
      filters={<CallFilters list={list} />}
      list={list}
      pages={pages}
      columns={useColumns()}
      rowId={(row) => row.request_id}
      empty={{ icon: 'phone', title: t('emptyTitle'), text: t('emptyText') }}
    >
      <DetailDrawer isOpen={open !== undefined} title={open?.model ?? ''} onClose={list.close}>
        {open ? <CallDetails call={open} /> : null}
      </DetailDrawer>
    </ListPage>
  )
}

interface CallFiltersProps {
  readonly list: ListState<(typeof FILTERS)[number]>
}

function CallFilters({ list }: CallFiltersProps) {
  const t = useMessages(messages)
  const states = useStatusOptions(['succeeded', 'failed', 'cancelled', 'lost'])
  return (
    <>
      <PeriodPicker value={list.filters} onChange={list.setFilters} />
      <TextFilter label={t('request')} {...list.field('request_id')} />
      <TextFilter label={t('filterAccount')} {...list.field('account')} />
      <TextFilter label={t('model')} {...list.field('model')} />
      <SelectFilter label={t('status')} options={states} {...list.field('status')} />
      <SelectFilter
        label={t('onlyReview')}
        options={[{ value: 'true', label: t('onlyReview') }]}
        {...list.field('review')}
      />
      <SelectFilter
        label={t('atALoss')}
        options={[{ value: 'true', label: t('atALoss') }]}
        {...list.field('loss')}
      />
    </>
  )
}

function useColumns(): Column<Call>[] {
  const t = useMessages(messages)
  const money = (amount: string, { currency }: Call) => (
    <MoneyText amount={amount} currency={currency} />
  )
  return [
    {
      key: 'time',
      header: t('time'),
      render: (row) => <TimeText time={row.created_at} />,
      isTime: true,
    },
    {
      key: 'account',
      header: t('account'),
      render: (row) => <AccountName id={row.account_id} name={row.account_name} />,
      minor: true,
    },
    { key: 'model', header: t('model'), render: (row) => <OneLine text={row.model} /> },
    {
      key: 'status',
      header: t('status'),
      render: (row) => <WorkStatus status={row.review ? 'review' : row.status} />,
    },
    {
      key: 'channel',
      header: t('channel'),
      render: (row) => <OneLine text={row.channel ?? '–'} />,
      minor: true,
    },
    {
      key: 'charged',
      header: t('charged'),
      render: (row) => money(row.charged, row),
      align: 'right',
    },
    {
      key: 'cost',
      header: t('cost'),
      render: (row) => (row.upstream_cost === null ? '–' : money(row.upstream_cost, row)),
      align: 'right',
      minor: true,
    },
    {
      key: 'margin',
      header: t('margin'),
      render: (row) => (row.margin === null ? '–' : money(row.margin, row)),
      align: 'right',
    },
  ]
}

interface AmountProps {
  readonly amount: string | null
  readonly currency: string
}

function Amount({ amount, currency }: AmountProps) {
  const t = useMessages(messages)
  if (amount === null) return t('unknown')
  return <MoneyText amount={amount} currency={currency} places="exact" />
}

function CallDetails({ call }: { readonly call: Call }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const milliseconds = Date.parse(call.finished_at) - Date.parse(call.created_at)
  return (
    <Stack gap="md">
      <KeyValue
        facts={[
          { label: t('request'), value: <CopyText value={call.request_id} /> },
          { label: t('status'), value: <WorkStatus status={call.status} /> },
          {
            label: t('account'),
            value: (
              <TextLink to="/operator/accounts" search={{ id: call.account_id }}>
                {call.account_name} · {call.account_id}
              </TextLink>
            ),
          },
          { label: t('endpoint'), value: call.endpoint },
          { label: t('attempts'), value: <Tries tries={call.tries} /> },
          { label: t('key'), value: <CopyText value={call.key_id} /> },
          { label: t('task'), value: call.task_id ? <CopyText value={call.task_id} /> : undefined },
          { label: t('time'), value: <TimeText time={call.created_at} form="full" /> },
          { label: t('duration'), value: formatDuration(milliseconds, language) },
          {
            label: t('held'),
            value: <MoneyText amount={call.held} currency={call.currency} places="exact" />,
          },
          {
            label: t('charged'),
            value: <MoneyText amount={call.charged} currency={call.currency} places="exact" />,
          },
          {
            label: t('cost'),
            value: <Amount amount={call.upstream_cost} currency={call.currency} />,
          },
          { label: t('margin'), value: <Amount amount={call.margin} currency={call.currency} /> },
          { label: t('basis'), value: call.basis },
          {
            label: t('error'),
            value: call.error ? <Text size="sm">{call.error}</Text> : undefined,
          },
        ]}
      />
      <TextLink to="/usage" search={{ account: call.account_id, id: call.request_id }}>
        {t('explain')}
      </TextLink>
    </Stack>
  )
}
