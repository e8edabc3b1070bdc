/** Progress of a task: its state, its result, and a link to its page. */
import { Button, Group, Loader, Progress, Stack, Text } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { ButtonLink } from '../../../../components/links.tsx'
import { ErrorState } from '../../../../components/state/error-state.tsx'
import { Notice } from '../../../../components/state/notice.tsx'
import { WorkStatus } from '../../../../components/state/work-status.tsx'
import type { AdminAnswer } from '../../../../lib/api.ts'
import { formatDuration } from '../../../../lib/format.ts'
import { useLanguage, useMessages } from '../../../../lib/i18n.tsx'
import { useAccount } from '../../../../lib/session.tsx'
import { useAdmin, useAdminChange } from '../../../../lib/use-admin.ts'
import { taskMessages } from './task-messages.ts'

const KEY = 'GET /accounts/:account_id/tasks/:task_id'
export type PlaygroundTask = AdminAnswer<typeof KEY>

const POLL_INTERVAL_MS = 2_000

interface TaskProgressProps {
  readonly taskId: string
  /** Shows the result of a succeeded task. */
  readonly children: (task: PlaygroundTask) => ReactNode
}

export function TaskProgress({ taskId, children }: TaskProgressProps) {
  const account = useAccount()
  const { data, error, refetch } = useAdmin(
    KEY,
    { params: { account_id: account.id, task_id: taskId } },
    { live: ['tasks'], refetchWhile: { everyMs: POLL_INTERVAL_MS, holds: isOpen } },
  )
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Loader size="sm" type="dots" />
  return (
    <Stack gap="sm">
      <State task={data} />
      {data.status === 'succeeded' ? children(data) : null}
    </Stack>
  )
}

/** Refetches until the task has ended and its media are copied or failed. */
function isOpen({ finished_at: finished, media }: PlaygroundTask): boolean {
  return finished === null || media.some(({ state }) => state === 'waiting')
}

function State({ task }: { readonly task: PlaygroundTask }) {
  const t = useMessages(taskMessages)
  const { language } = useLanguage()
  const { status, error, finished_at: finished } = task
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <Group gap="sm">
          <WorkStatus status={status} />
          <Text size="xs" c="dimmed">
            {finished === null ? (
              <Elapsed since={task.created_at} />
            ) : (
              t('totalDuration', { duration: formatDuration(task.elapsed_ms, language) })
            )}
          </Text>
        </Group>
        <Group gap="xs">
          {status === 'queued' ? <Cancel taskId={task.id} /> : null}
          <ButtonLink to="/tasks" search={{ id: task.id }} size="compact-sm" variant="default">
            {t('toTask')}
          </ButtonLink>
        </Group>
      </Group>
      {finished === null ? (
        <>
          <Progress value={100} size="sm" striped animated aria-label={t('progress')} />
          <Text size="xs" c="dimmed">
            {t('canLeave')}
          </Text>
        </>
      ) : null}
      {status === 'failed' ? (
        <Notice tone="bad" title={t('failedTask')}>
          {error?.message}
        </Notice>
      ) : null}
    </Stack>
  )
}

const TICK_MS = 1_000

function Elapsed({ since }: { readonly since: string }) {
  const t = useMessages(taskMessages)
  const { language } = useLanguage()
  const [nowMs, setNowMs] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  const duration = formatDuration(Math.max(0, nowMs - Date.parse(since)), language)
  return <span>{t('elapsed', { duration })}</span>
}

function Cancel({ taskId }: { readonly taskId: string }) {
  const t = useMessages(taskMessages)
  const account = useAccount()
  const cancel = useAdminChange('POST /accounts/:account_id/tasks/:task_id/cancel')
  const params = { account_id: account.id, task_id: taskId }
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={cancel.isPending}
      onClick={() => cancel.mutate({ params })}
    >
      {t('cancel')}
    </Button>
  )
}

/** Reads the id in the answer to a creation. */
export async function readTaskId(response: Response): Promise<string> {
  const document: unknown = await response.json()
  const hasId = typeof document === 'object' && document !== null && 'id' in document
  return hasId ? String(document.id) : ''
}
