/** The tasks of all accounts, the newest first. */
import { Stack } from '@mantine/core'
import { CopyText } from '../../components/copy-button.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { DetailDrawer } from '../../components/detail-drawer.tsx'
import { FilteredEmpty } from '../../components/filtered-empty.tsx'
import { Filters, SelectFilter, TextFilter } from '../../components/filters.tsx'
import { KeyValue } from '../../components/key-value.tsx'
import { TextLink } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { useStatusOptions, WorkStatus } from '../../components/work-status.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useUrlState } from '../../lib/url-state.ts'
import { type RowOf, useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const KEY = 'GET /operator/tasks'
const KINDS = ['video', 'minutes', 'erase', 'image'] as const
type Task = RowOf<typeof KEY>
const FILTERS = ['account', 'kind', 'status', 'channel', 'id'] as const
const NO_FILTERS = { account: '', kind: '', status: '', channel: '', id: '' }
/** An open task changes by itself. */
const REFRESH_MS = 10_000

export function Page() {
  const t = useMessages(messages)
  const url = useUrlState([...FILTERS, 'task'])
  const { task: openId, ...filters } = url.values
  const request = { query: asQuery(KEY, filters) }
  const pages = useAdminPages(KEY, request, { keepPrevious: true, refetchEveryMs: REFRESH_MS })
  const open = pages.rows.find(({ id }) => id === openId)
  return (
    <>
      <PageHeader title={t('title')} description={t('description')} />
      <TaskFilters values={filters} onChange={url.set} />
      <DataTable
        label={t('title')}
        pages={pages}
        columns={useColumns()}
        rowId={(row) => row.id}
        onOpen={(row) => url.push({ task: row.id })}
        openId={openId}
        empty={
          <FilteredEmpty
            icon="clock"
            isFiltered={Object.values(filters).some((value) => value !== '')}
            onClear={() => url.set(NO_FILTERS)}
            title={t('emptyTitle')}
          >
            {t('emptyText')}
          </FilteredEmpty>
        }
      />
      <DetailDrawer
        isOpen={open !== undefined}
        title={open ? t(open.kind) : ''}
        onClose={() => url.push({ task: '' })}
      >
        {open ? <TaskDetails task={open} /> : null}
      </DetailDrawer>
    </>
  )
}

type Filter = (typeof FILTERS)[number]

interface TaskFiltersProps {
  readonly values: Readonly<Record<Filter, string>>
  readonly onChange: (changes: Partial<Record<Filter, string>>) => void
}

function TaskFilters({ values, onChange }: TaskFiltersProps) {
  const t = useMessages(messages)
  const states = useStatusOptions(['queued', 'processing', 'succeeded', 'failed'])
  return (
    <Filters>
      <TextFilter label={t('anyId')} value={values.id} onChange={(id) => onChange({ id })} />
      <TextFilter
        label={t('filterAccount')}
        value={values.account}
        onChange={(account) => onChange({ account })}
      />
      <SelectFilter
        label={t('kind')}
        value={values.kind}
        options={KINDS.map((value) => ({ value, label: t(value) }))}
        onChange={(kind) => onChange({ kind })}
      />
      <SelectFilter
        label={t('status')}
        value={values.status}
        options={[{ value: 'open', label: t('open') }, ...states]}
        onChange={(status) => onChange({ status })}
      />
      <TextFilter
        label={t('channel')}
        value={values.channel}
        onChange={(channel) => onChange({ channel })}
      />
    </Filters>
  )
}

function useColumns(): Column<Task>[] {
  const t = useMessages(messages)
  return [
    { key: 'created', header: t('created'), render: (row) => <TimeText time={row.created_at} /> },
    { key: 'account', header: t('account'), render: (row) => row.account_name },
    { key: 'kind', header: t('kind'), render: (row) => t(row.kind) },
    { key: 'model', header: t('model'), render: (row) => row.model, minor: true },
    { key: 'status', header: t('status'), render: (row) => <WorkStatus status={row.status} /> },
    { key: 'channel', header: t('channel'), render: (row) => row.channel, minor: true },
    { key: 'looks', header: t('looks'), render: (row) => row.looks, align: 'right', minor: true },
    {
      key: 'next',
      header: t('nextLook'),
      render: (row) => <TimeText time={row.next_look_at} form="relative" />,
      minor: true,
    },
  ]
}

function TaskDetails({ task }: { readonly task: Task }) {
  const t = useMessages(messages)
  return (
    <Stack gap="md">
      <KeyValue
        facts={[
          { label: t('id'), value: <CopyText value={task.id} /> },
          {
            label: t('upstreamId'),
            value: task.upstream_id ? <CopyText value={task.upstream_id} /> : undefined,
          },
          { label: t('status'), value: <WorkStatus status={task.status} /> },
          { label: t('account'), value: `${task.account_name} · ${task.account_id}` },
          { label: t('model'), value: task.model },
          { label: t('channel'), value: task.channel },
          { label: t('created'), value: <TimeText time={task.created_at} form="full" /> },
          { label: t('finished'), value: <TimeText time={task.finished_at} form="full" /> },
          { label: t('looks'), value: task.looks },
          { label: t('failures'), value: task.failures > 0 ? task.failures : undefined },
          { label: t('error'), value: task.error ?? undefined },
          { label: t('request'), value: <CopyText value={task.request_id} /> },
        ]}
      />
      <TextLink to="/usage" search={{ account: task.account_id, id: task.request_id }}>
        {t('call')}
      </TextLink>
    </Stack>
  )
}
