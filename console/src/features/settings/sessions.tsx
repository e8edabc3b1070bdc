/** Signed-in browsers of the user. */

import { Panel } from '../../components/page/panel.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import { SettingRow } from './row.tsx'
import { ActButton } from './small-button.tsx'

export function SessionsTable() {
  const t = useMessages(messages)
  const { data, error, isPending, refetch } = useAdmin('GET /profile/sessions', {})
  const end = useAdminChange('DELETE /profile/sessions/:session_id')
  const endOthers = useAdminChange('DELETE /profile/sessions')
  const sessions = data?.data ?? []
  const others = sessions.length > 1
  return (
    <Panel
      title={t('sessions')}
      isPending={isPending}
      aside={
        others ? (
          <ActButton onAct={() => endOthers.mutateAsync({})}>{t('endOthers')}</ActButton>
        ) : undefined
      }
    >
      {error ? <ErrorState error={error} onRetry={() => void refetch()} /> : null}
      {sessions.map(({ id, ip, user_agent, seen_at, current }) => (
        <SettingRow
          key={id}
          title={current ? t('thisSession') : nameOf(user_agent)}
          text={
            <>
              {current ? `${nameOf(user_agent)} · ` : ''}
              {ip} · {t('seen')} <TimeText time={seen_at} form="relative" />
            </>
          }
        >
          {current ? null : (
            <ActButton onAct={() => end.mutateAsync({ params: { session_id: id } })}>
              {t('end')}
            </ActButton>
          )}
        </SettingRow>
      ))}
    </Panel>
  )
}

const BROWSERS = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari', 'curl'] as const
const SYSTEMS = ['iPhone', 'iPad', 'Android', 'Windows', 'Mac OS X', 'Linux'] as const
const FULL_NAMES: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera' }

/** Shortens a user agent to `Firefox · Linux`. */
function nameOf(agent: string): string {
  const browser = BROWSERS.find((name) => agent.includes(name))
  const system = SYSTEMS.find((name) => agent.includes(name))
  const known = [browser && (FULL_NAMES[browser] ?? browser), system].filter(Boolean)
  return known.join(' · ') || agent || '–'
}
