/** The providers that a person signs in with beside their password. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { callAdmin } from '../../lib/api.ts'
import { formatTime } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import { SettingRow } from './row.tsx'
import { ActButton, SmallButton } from './small-button.tsx'

/** Shows nothing where no provider is set and none was linked. */
export function Linked() {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const own = useAdmin('GET /profile/identities', {})
  const offered = useQuery({
    queryKey: ['sign-in providers'],
    queryFn: () => callAdmin('GET /sign-in/oidc', {}),
  })
  const link = useAdminChange('POST /profile/identities')
  const unlink = useAdminChange('DELETE /profile/identities/:provider')
  const [left, setLeft] = useState<{ readonly provider: string; readonly name: string }>()
  const linked = own.data?.data ?? []
  const others = (offered.data?.data ?? []).filter(
    ({ id }) => !linked.some(({ provider }) => provider === id),
  )
  if (linked.length === 0 && others.length === 0) return null
  const begin = async (provider: string) => {
    const { location: next } = await link.mutateAsync({ body: { provider } })
    window.location.assign(next)
  }
  return (
    <Panel title={t('linked')}>
      {linked.map(({ provider, name, email, created_at }) => (
        <SettingRow
          key={`${provider} ${created_at}`}
          title={name}
          text={[email, t('linkedSince', { since: formatTime(created_at, language) })]
            .filter(Boolean)
            .join(' · ')}
        >
          <SmallButton onClick={() => setLeft({ provider, name })}>{t('remove')}</SmallButton>
        </SettingRow>
      ))}
      {others.map(({ id, name }) => (
        <SettingRow key={id} title={name} text={t('linkText')}>
          <ActButton onAct={() => begin(id)} aria-label={t('linkWith', { name })}>
            {t('link')}
          </ActButton>
        </SettingRow>
      ))}
      <ConfirmDialog
        isOpen={left !== undefined}
        title={t('unlinkTitle', { name: left?.name ?? '' })}
        act={t('remove')}
        isDangerous
        onConfirm={() => unlink.mutateAsync({ params: { provider: left?.provider ?? '' } })}
        onClose={() => setLeft(undefined)}
      >
        {t('unlinkText')}
      </ConfirmDialog>
    </Panel>
  )
}
