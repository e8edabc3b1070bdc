/** The tasks of all accounts, the newest first. */
import { Stack } from '@mantine/core'
import { TextLink } from '../../components/links.tsx'
import type { Column } from '../../components/list/data-table.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { SelectFilter, TextFilter } from '../../components/list/filters.tsx'
import { ListPage } from '../../components/list/list-page.tsx'
import { useTaskKindOptions, useWorkKind } from '../../components/state/work-kind.ts'
import { useStatusOptions, WorkStatus } from '../../components/state/work-status.tsx'
import { AccountName } from '../../components/text/account-name.tsx'
import { CopyText } from '../../components/text/copy-button.tsx'
import { KeyValue } from '../../components/text/key-value.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { type ListState, useListState } from '../../lib/list-state.ts'
import { type RowOf, useAdminPages } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const KEY = 'GET /operator/tasks'
type Task = RowOf<typeof KEY>
const FILTERS = ['account', 'kind', 'status', 'channel', 'id'] as const
/** Refetches while the task is open. */
const REFRESH_MS = 10_000

export function Page() {
  const t = useMessages(messages)
  const list = useListState(FILTERS, 'task')
  const request = { query: asQuery(KEY, list.filters) }
  const pages = useAdminPages(KEY, request, { keepPrevious: true, refetchEveryMs: REFRESH_MS })
  const kindName = useWorkKind()
  const open = pages.rows.find(({ id }) => id === list.openId)
  return (
    <ListPage
      title={t('title')}
      description={t('description')}
      filters={<TaskFilters list={list} />}
      list={list}
      pages={pages}
      columns={useColumns()}
      rowId={(row) => row.id}
      empty={{ icon: 'clock', title: t('emptyTitle'), text: t('emptyText') }}
    >
      <DetailDrawer
        isOpen={open !== undefined}
        title={open ? kindName(open.kind) : ''}
        onClose={list.close}
      >
        {open ? <TaskDetails task={open} /> : null}
      </DetailDrawer>
    </ListPage>
  )
}

interface TaskFiltersProps {
  readonly list: ListState<(typeof FILTERS)[number]>
}

function TaskFilters({ list }: TaskFiltersProps) {
  const t = useMessages(messages)
  const states = useStatusOptions(['queued', 'processing', 'succeeded', 'failed'])
  return (
    <>
      <TextFilter label={t('anyId')} {...list.field('id')} />
      <TextFilter label={t('filterAccount')} {...list.field('account')} />
      <SelectFilter label={t('kind')} options={useTaskKindOptions()} {...list.field('kind')} />
      <SelectFilter
        label={t('status')}
        options={[{ value: 'open', label: t('open') }, ...states]}
        {...list.field('status')}
      />
      <TextFilter label={t('channel')} {...list.field('channel')} />
    </>
  )
}

function useColumns(): Column<Task>[] {
  const t = useMessages(messages)
  const kindName = useWorkKind()
  return [
    {
      key: 'created',
      header: t('created'),
      render: (row) => <TimeText time={row.created_at} />,
      isTime: true,
    },
    {
      key: 'account',
      header: t('account'),
      render: (row) => <AccountName id={row.account_id} name={row.account_name} />,
    },
    { key: 'kind', header: t('kind'), render: (row) => kindName(row.kind) },
    { key: 'model', header: t('model'), render: (row) => row.model, minor: true },
    { key: 'status', header: t('status'), render: (row) => <WorkStatus status={row.status} /> },
    { key: 'channel', header: t('channel'), render: (row) => row.channel, minor: true },
    { key: 'polls', header: t('polls'), render: (row) => row.polls, align: 'right', minor: true },
    {
      key: 'next',
      header: t('nextPoll'),
      render: (row) => <TimeText time={row.next_poll_at} form="relative" />,
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
          { label: t('polls'), value: task.polls },
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
