/** Second factors: an authenticator app, passkeys, and recovery codes. */
import { Divider, Text } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useSession } from '../../lib/session.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import { AddApp } from './add-app.tsx'
import { messages } from './messages.ts'
import { Passkeys } from './passkeys.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'
import { SettingRow } from './row.tsx'
import { SmallButton } from './small-button.tsx'

type Open = 'add' | 'remove' | 'codes' | undefined

export function Factors() {
  const t = useMessages(messages)
  const { second_factor: factor } = useSession().session
  const [open, setOpen] = useState<Open>()
  const [codes, setCodes] = useState<readonly string[]>()
  const close = () => setOpen(undefined)
  const remove = useAdminChange('DELETE /profile/totp')
  const renew = useAdminChange('POST /profile/recovery-codes')
  const hasAny = factor.totp || factor.passkeys > 0
  return (
    <Panel title={t('factors')}>
      <Text size="sm" c="dimmed" mb="xs">
        {t('factorsText')}
      </Text>
      <SettingRow
        title={t('app')}
        text={
          <StatusBadge
            tone={factor.totp ? 'good' : 'quiet'}
            label={t(factor.totp ? 'on' : 'off')}
          />
        }
      >
        {factor.totp ? (
          <SmallButton onClick={() => setOpen('remove')}>{t('remove')}</SmallButton>
        ) : (
          <SmallButton onClick={() => setOpen('add')} aria-label={t('addApp')}>
            {t('add')}
          </SmallButton>
        )}
      </SettingRow>
      {hasAny ? (
        <SettingRow
          title={t('recoveryCodes')}
          text={t('recoveryLeft', { count: factor.recovery_codes_left })}
        >
          <SmallButton onClick={() => setOpen('codes')}>{t('newCodes')}</SmallButton>
        </SettingRow>
      ) : null}
      <Divider my="xs" />
      <Passkeys onCodes={setCodes} />
      <AddApp isOpen={open === 'add'} onClose={close} onCodes={setCodes} />
      <ConfirmDialog
        isOpen={open === 'remove'}
        title={t('removeApp')}
        act={t('remove')}
        isDangerous
        onConfirm={() => remove.mutateAsync({})}
        onClose={close}
      >
        {t('removeAppText')}
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={open === 'codes'}
        title={t('newCodesTitle')}
        act={t('newCodes')}
        onConfirm={async () => setCodes((await renew.mutateAsync({})).recovery_codes)}
        onClose={close}
      >
        {t('newCodesText')}
      </ConfirmDialog>
      <RecoveryCodes codes={codes} onClose={() => setCodes(undefined)} />
    </Panel>
  )
}
