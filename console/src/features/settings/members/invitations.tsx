/** Open invitations. */
import { ErrorState } from '../../../components/state/error-state.tsx'
import { formatTime } from '../../../lib/format.ts'
import { useLanguage, useMessages } from '../../../lib/i18n.tsx'
import { useAdmin, useAdminChange } from '../../../lib/use-admin.ts'
import { messages } from '../messages.ts'
import { SettingRow } from '../row.tsx'
import { ActButton } from '../small-button.tsx'

export function Invitations({ accountId }: { readonly accountId: string }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const params = { account_id: accountId }
  const { data, error, isPending, refetch } = useAdmin('GET /accounts/:account_id/invitations', {
    params,
  })
  const takeBack = useAdminChange('DELETE /accounts/:account_id/invitations/:invitation_id')
  const rows = (data?.data ?? []).map(({ id, email, expires_at }) => (
    <SettingRow
      key={id}
      title={email}
      text={t('invited', { until: formatTime(expires_at, language) })}
    >
      <ActButton onAct={() => takeBack.mutateAsync({ params: { ...params, invitation_id: id } })}>
        {t('withdraw')}
      </ActButton>
    </SettingRow>
  ))
  return (
    <div aria-busy={isPending}>
      {error ? <ErrorState error={error} onRetry={() => void refetch()} /> : null}
      {rows}
    </div>
  )
}
