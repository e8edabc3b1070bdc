/** One task: timeline, cost, result, and cancellation while it is possible. */
import { Group, Loader, Stack, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { ConfirmButton } from '../../components/form/confirm-dialog.tsx'
import { ButtonLink } from '../../components/links.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { FieldFacts } from '../../components/list/fields.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { useWorkKind } from '../../components/state/work-kind.ts'
import { CodeSnippet } from '../../components/text/code-snippet.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { TASK_FIELDS } from './fields.tsx'
import { messages } from './messages.ts'
import { readTaskTranscript } from './read-transcript.ts'
import { TaskMedia } from './task-media.tsx'
import { Timeline } from './timeline.tsx'
import { TranscriptView } from './transcript.tsx'

type Detail = AdminAnswer<'GET /accounts/:account_id/tasks/:task_id'>

/** Interval while a copy is in progress: no event signals its end. */
const COPYING = {
  everyMs: 3_000,
  holds: ({ media }: Detail) => media.some(({ state }) => state === 'waiting'),
}

interface TaskDrawerProps {
  /** '' while none is open. */
  readonly id: string
  readonly onClose: () => void
}

export function TaskDrawer({ id, onClose }: TaskDrawerProps) {
  const t = useMessages(messages)
  const account = useAccount()
  const { data, error, isPending, refetch } = useAdmin(
    'GET /accounts/:account_id/tasks/:task_id',
    { params: { account_id: account.id, task_id: id } },
    { enabled: id !== '', live: ['tasks', 'deliveries'], refetchWhile: COPYING },
  )
  const kindName = useWorkKind()
  const title = data ? `${kindName(data.kind)} · ${data.model}` : t('title')
  return (
    <DetailDrawer isOpen={id !== ''} title={title} onClose={onClose}>
      {error ? <ErrorState error={error} onRetry={() => void refetch()} /> : null}
      {isPending ? <Loader size="sm" /> : null}
      {data ? <TaskDetail key={data.id} task={data} /> : null}
    </DetailDrawer>
  )
}

function TaskDetail({ task }: { readonly task: Detail }) {
  const t = useMessages(messages)
  const transcript = readTaskTranscript(task.result)
  return (
    <Stack gap="lg">
      <Group gap="xs">
        <ButtonLink
          to="/usage"
          search={{ id: task.request_id }}
          variant="default"
          size="compact-sm"
        >
          {t('explain')}
        </ButtonLink>
        {task.status === 'queued' ? <CancelButton taskId={task.id} /> : null}
      </Group>
      <FieldFacts messages={messages} fields={TASK_FIELDS} row={task} />
      {task.media.length > 0 ? (
        <Part title={t('media')}>
          <TaskMedia media={task.media} />
        </Part>
      ) : null}
      {transcript ? (
        <Part title={t('transcript')}>
          <TranscriptView transcript={transcript} />
        </Part>
      ) : null}
      <Part title={t('timeline')}>
        <Timeline taskId={task.id} currency={task.currency} />
      </Part>
      <Part title={t('request')}>
        <CodeSnippet code={JSON.stringify(task.request, null, 2)} />
      </Part>
      {task.result ? (
        <Part title={t('result')}>
          <CodeSnippet code={JSON.stringify(task.result, null, 2)} />
        </Part>
      ) : null}
    </Stack>
  )
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Stack gap="xs" component="section">
      <Title order={3}>{title}</Title>
      {children}
    </Stack>
  )
}

function CancelButton({ taskId }: { readonly taskId: string }) {
  const t = useMessages(messages)
  const account = useAccount()
  const cancel = useAdminChange('POST /accounts/:account_id/tasks/:task_id/cancel')
  return (
    <ConfirmButton
      size="compact-sm"
      title={t('cancelTitle')}
      act={t('cancel')}
      isDangerous
      onConfirm={async () => {
        await cancel.mutateAsync({ params: { account_id: account.id, task_id: taskId } })
        notifyDone(t('cancelled'))
      }}
    >
      {t('cancelText')}
    </ConfirmButton>
  )
}
