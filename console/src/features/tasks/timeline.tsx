/** A task's events in order, with the duration of each step. */
import { Loader, Text } from '@mantine/core'
import { ErrorState } from '../../components/state/error-state.tsx'
import { CopyText } from '../../components/text/copy-button.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { formatDuration } from '../../lib/format.ts'
import { fillText, useLanguage, useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import classes from './timeline.module.css'
import { messages } from './timeline-messages.ts'

const KEY = 'GET /accounts/:account_id/tasks/:task_id/timeline'
type Event = AdminAnswer<typeof KEY>['events'][number]

interface TimelineProps {
  readonly taskId: string
  readonly currency: string
}

export function Timeline({ taskId, currency }: TimelineProps) {
  const account = useAccount()
  const { data, error, refetch } = useAdmin(
    KEY,
    { params: { account_id: account.id, task_id: taskId } },
    { live: ['tasks', 'deliveries'] },
  )
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Loader size="sm" />
  return (
    <ol className={classes.list}>
      {data.events.map((event, index) => (
        <Step
          key={`${event.at} ${event.event} ${JSON.stringify(event)}`}
          event={event}
          before={data.events[index - 1]}
          currency={currency}
        />
      ))}
    </ol>
  )
}

interface StepProps {
  readonly event: Event
  readonly before: Event | undefined
  readonly currency: string
}

function Step({ event, before, currency }: StepProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const name = useEventName()
  const passedMs = before ? Date.parse(event.at) - Date.parse(before.at) : 0
  return (
    <li className={classes.step} data-tone={toneOf(event)}>
      <Text size="sm" fw={500} component="span">
        {name(event)}
      </Text>
      <Text size="xs" c="dimmed" component="span">
        {passedMs > 0 ? `${t('later', { time: formatDuration(passedMs, language) })} · ` : ''}
        <TimeText time={event.at} />
      </Text>
      <Text size="xs" c="dimmed" component="div" className={classes.details}>
        <Details event={event} currency={currency} />
      </Text>
    </li>
  )
}

function useEventName(): (event: Event) => string {
  const { language } = useLanguage()
  return ({ event, number }) => {
    if (!isKnown(event)) return event.replaceAll('_', ' ')
    return fillText(messages[language][event], { number: String(number ?? '') })
  }
}

function isKnown(key: unknown): key is keyof (typeof messages)['en'] {
  return typeof key === 'string' && Object.hasOwn(messages.en, key)
}

function toneOf({ event, outcome }: Event): 'bad' | undefined {
  const isBad = ['failed', 'attempt_refused', 'model_failed'].includes(event)
  return isBad || outcome === 'refused' || outcome === 'lost' ? 'bad' : undefined
}

const SAID_ALREADY = ['at', 'event', 'number', 'released', 'amount', 'charged', 'upstream_id']

/** Words an outcome, a reason and an error's code; another detail has its own name. */
function wordDetail(key: string, value: unknown, words: (typeof messages)['en' | 'zh']): string {
  const reason = `reason_${String(value)}`
  if (key === 'outcome' && isKnown(value)) return words[value]
  if (key === 'reason') return isKnown(reason) ? words[reason] : String(value)
  if (key === 'code') return fillText(words.code, { code: String(value) })
  return `${key.replaceAll('_', ' ')} ${String(value)}`
}

/** Lists the details that fit on one line, such as amount and channel. */
function Details({ event, currency }: Pick<StepProps, 'event' | 'currency'>) {
  const { language } = useLanguage()
  const { amount = event.charged, upstream_id: upstreamId } = event
  const rest = Object.entries(event)
    .filter(([key]) => !SAID_ALREADY.includes(key))
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(([key, value]) => wordDetail(key, value, messages[language]))
  return (
    <>
      {typeof amount === 'string' ? (
        <MoneyText amount={amount} currency={currency} places="exact" />
      ) : null}
      {typeof amount === 'string' && rest.length > 0 ? ' · ' : ''}
      {rest.join(' · ')}
      {typeof upstreamId === 'string' ? <CopyText value={upstreamId} /> : null}
    </>
  )
}
