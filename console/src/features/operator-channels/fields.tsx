/** The members of a channel, in the list and beside it. */
import { Text } from '@mantine/core'
import { TextLink } from '../../components/links.tsx'
import type { RowFields } from '../../components/list/fields.tsx'
import { WorkStatus } from '../../components/state/work-status.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

type Channel = AdminAnswer<'GET /operator/channels'>['data'][number]

export const CHANNEL_FIELDS: RowFields<Channel, (typeof messages)['en']> = [
  { key: 'id', in: 'list', place: 1 },
  { word: 'health', in: 'list', place: 3, show: (channel) => <Health channel={channel} /> },
  { word: 'health', in: 'details', show: ({ health }) => <WorkStatus status={health.state} /> },
  {
    in: 'details',
    show: ({ health: { state, reason } }, { t, textOf }) =>
      state === 'untried' ? t('untried') : textOf(reason ?? ''),
  },
  {
    word: 'lastSuccess',
    in: 'details',
    show: ({ health }) => <TimeText time={health.last_success} form="full" />,
  },
  {
    word: 'failingSince',
    in: 'details',
    show: ({ health: { failing_since: since } }) => since && <TimeText time={since} form="full" />,
  },
  {
    word: 'lastError',
    in: 'details',
    show: ({ health: { last_error: error } }, { textOf }) => {
      if (!error) return '–'
      const parts = [error.status ?? error.kind, textOf(error.message ?? '')]
      return (
        <>
          {parts.filter(Boolean).join(': ')} (<TimeText time={error.at} />)
        </>
      )
    },
  },
  { word: 'spentToday', in: 'details', show: (channel) => showSpending(channel, 'day') },
  { word: 'spentThisMonth', in: 'details', show: (channel) => showSpending(channel, 'month') },
  { key: 'upstream', place: 2 },
  { key: 'version', in: 'details' },
  { key: 'source', in: 'details' },
  { key: 'updated_at', word: 'changed', as: 'time', place: 6, minor: true },
  { key: 'open_tasks', word: 'openTasks', in: 'list', place: 5, minor: true, align: 'right' },
  { word: 'openTasks', in: 'details', show: (channel) => <OpenTasks channel={channel} /> },
  {
    word: 'models',
    place: 4,
    minor: true,
    align: 'right',
    show: ({ models }, { t, isFact }) => (isFact ? models.join(', ') || t('none') : models.length),
  },
]

interface ChannelProps {
  readonly channel: Channel
}

function Health({ channel: { status, health } }: ChannelProps) {
  return (
    <>
      <WorkStatus status={status === 'retired' ? status : health.state} />{' '}
      <Text size="xs" c="dimmed" component="span">
        <HealthNote health={health} />
      </Text>
    </>
  )
}

/** Its last success, or since when it fails. */
function HealthNote({ health }: Pick<Channel, 'health'>) {
  const t = useMessages(messages)
  const { state, cooldown_seconds: seconds, last_success: succeededAt } = health
  if (seconds !== null) return t('forSeconds', { seconds })
  if (state === 'failing') {
    return (
      <>
        {t('since')} <TimeText time={health.failing_since} form="relative" />
      </>
    )
  }
  if (state !== 'working') return null
  return (
    <>
      {t('lastSuccess')} <TimeText time={succeededAt} form="relative" />
    </>
  )
}

function OpenTasks({ channel: { id, open_tasks: count } }: ChannelProps) {
  return (
    <TextLink to="/operator/tasks" search={{ channel: id, status: 'open' }}>
      {count}
    </TextLink>
  )
}

function showSpending({ spending }: Channel, period: Channel['spending'][number]['period']) {
  const found = spending.find((one) => one.period === period)
  return (
    found && (
      <>
        <MoneyText amount={found.spent} currency={found.currency} /> /{' '}
        <MoneyText amount={found.cap} currency={found.currency} />
      </>
    )
  )
}
