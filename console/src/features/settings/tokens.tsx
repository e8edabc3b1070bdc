/** The user's access tokens for the admin API. */
import { Text } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { CreateToken } from './create-token.tsx'
import { SettingRow } from './row.tsx'
import { SmallButton } from './small-button.tsx'
import { messages } from './token-messages.ts'

type Token = AdminAnswer<'GET /profile/tokens'>['data'][number]

/** Number of ended tokens shown, newest first: they explain why a script was refused. */
const ENDED_SHOWN = 3

export function OwnTokens() {
  const t = useMessages(messages)
  const { data, error, isPending, refetch } = useAdmin('GET /profile/tokens', {})
  const [isCreating, setCreating] = useState(false)
  const [revoked, setRevoked] = useState<Token>()
  const revoke = useAdminChange('DELETE /profile/tokens/:token_id')
  const tokens = data?.data ?? []
  const ended = tokens.filter(({ state }) => state !== 'active').slice(0, ENDED_SHOWN)
  const shown = [...tokens.filter(({ state }) => state === 'active'), ...ended]
  return (
    <Panel
      title={t('tokens')}
      isPending={isPending}
      aside={<SmallButton onClick={() => setCreating(true)}>{t('create')}</SmallButton>}
    >
      <Text size="sm" c="dimmed" mb="xs">
        {t('tokensText')}
      </Text>
      {error ? <ErrorState error={error} onRetry={() => void refetch()} /> : null}
      {data && shown.length === 0 ? (
        <SettingRow title={t('noTokens')} text={t('noTokensText')} />
      ) : null}
      {shown.map((token) => (
        <TokenRow key={token.id} token={token} onRevoke={() => setRevoked(token)} />
      ))}
      <CreateToken isOpen={isCreating} onClose={() => setCreating(false)} />
      <ConfirmDialog
        isOpen={revoked !== undefined}
        title={t('revokeTitle', { name: revoked?.name ?? '' })}
        act={t('revoke')}
        isDangerous
        onConfirm={() => revoke.mutateAsync({ params: { token_id: revoked?.id ?? '' } })}
        onClose={() => setRevoked(undefined)}
      >
        {t('revokeText')}
      </ConfirmDialog>
    </Panel>
  )
}

interface TokenRowProps {
  readonly token: Token
  readonly onRevoke: () => void
}

function TokenRow({ token, onRevoke }: TokenRowProps) {
  const t = useMessages(messages)
  const { name, display, scope, sensitive, state } = token
  return (
    <SettingRow
      title={name}
      text={
        <>
          <Text component="span" inherit ff="monospace">
            {display}
          </Text>
          {` · ${t(scope)}`}
          {sensitive ? `, ${t('isSensitive')}` : ''}
          {` · ${t('used')}: `}
          <TimeText time={token.last_used_at} form="relative" absent={t('never')} />
          {` · ${t('expiresAt')}: `}
          <TimeText time={token.expires_at} absent={t('never')} />
        </>
      }
    >
      {state === 'active' ? (
        <SmallButton onClick={onRevoke} aria-label={`${t('revoke')}: ${name}`}>
          {t('revoke')}
        </SmallButton>
      ) : (
        <StatusBadge tone={state === 'expired' ? 'warning' : 'quiet'} label={t(state)} />
      )}
    </SettingRow>
  )
}
