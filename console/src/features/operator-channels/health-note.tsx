/** A note beside the state of a channel: its last success, or since when it fails. */
import { TimeText } from '../../components/text/time-text.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import type { EditedChannel } from './channel-form.tsx'
import { messages } from './messages.ts'

export function HealthNote({ health }: { readonly health: EditedChannel['health'] }) {
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
