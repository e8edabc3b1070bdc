/** A task's life, step by step. */
import { Loader, Text } from '@mantine/core'
import { ErrorState } from '../../components/error-state.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import classes from './timeline.module.css'

export function Timeline({ taskId }: { readonly taskId: string }) {
  const account = useAccount()
  const { data, error, refetch } = useAdmin(
    'GET /accounts/:account_id/tasks/:task_id/timeline',
    { params: { account_id: account.id, task_id: taskId } },
    { live: ['tasks', 'deliveries'] },
  )
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Loader size="sm" />
  return (
    <ol className={classes.list}>
      {data.events.map(({ at, event, ...details }) => (
        <li key={`${at} ${event} ${JSON.stringify(details)}`} className={classes.step}>
          <Text size="sm" fw={500} component="span">
            {event.replaceAll('_', ' ').replaceAll('.', ': ')}
          </Text>
          <Text size="xs" c="dimmed" component="span">
            <TimeText time={at} />
          </Text>
          <Text size="xs" c="dimmed" component="div" className={classes.details}>
            {describe(details)}
          </Text>
        </li>
      ))}
    </ol>
  )
}

/** Only what is short enough for a line. */
function describe(details: Readonly<Record<string, unknown>>): string {
  return Object.entries(details)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${String(value)}`)
    .join(' · ')
}
