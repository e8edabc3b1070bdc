/** Badge with the state of a call, a task, a delivery, an account or a channel. */
import { useMessages } from '../../lib/i18n.tsx'
import { StatusBadge, type Tone } from './status-badge.tsx'
import { messages } from './work-status-messages.ts'

type Known = keyof (typeof messages)['en']

const TONES: Readonly<Record<Known, Tone>> = {
  running: 'busy',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'warning',
  lost: 'bad',
  submitting: 'busy',
  queued: 'busy',
  processing: 'busy',
  pending: 'busy',
  delivered: 'good',
  dropped: 'bad',
  active: 'good',
  suspended: 'bad',
  retired: 'quiet',
  untried: 'quiet',
  working: 'good',
  failing: 'bad',
  cooling_down: 'warning',
  over_cap: 'bad',
  paused: 'quiet',
  unusable: 'bad',
  review: 'warning',
}

function isKnown(status: string): status is Known {
  return Object.hasOwn(TONES, status)
}

export function WorkStatus({ status }: { readonly status: string }) {
  const t = useMessages(messages)
  if (!isKnown(status)) return <StatusBadge tone="quiet" label={status} />
  return <StatusBadge tone={TONES[status]} label={t(status)} />
}

/** Returns the options of a filter by state. */
export function useStatusOptions(statuses: readonly Known[]) {
  const t = useMessages(messages)
  return statuses.map((value) => ({ value, label: t(value) }))
}
