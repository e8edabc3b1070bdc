/** The account's name, its low-balance warning, its networks, and where its alerts go. */
import { Skeleton, TagsInput, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { CheckedField } from '../../components/form/checked-form.tsx'
import { onlyChanged } from '../../components/form/list-changes.ts'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { CopyText } from '../../components/text/copy-button.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { plainNumber } from '../../lib/nanos.ts'
import type { Selected } from '../../lib/session.tsx'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { LimitsTable } from './limits.tsx'
import { messages } from './messages.ts'
import { SettingRow } from './row.tsx'

type Settings = AdminAnswer<'GET /accounts/:account_id'>

export function AccountSection({ account }: { readonly account: Selected }) {
  const t = useMessages(messages)
  const params = { account_id: account.id }
  const { data, error, refetch } = useAdmin('GET /accounts/:account_id', { params })
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={320} aria-busy />
  const facts = (
    <>
      <SettingRow title="ID" text={<CopyText value={data.id} />} />
      <LimitsTable limits={data.limits} />
    </>
  )
  return (
    <Panel title={t('account')}>
      {account.isOwner ? (
        <AccountForm settings={data}>{facts}</AccountForm>
      ) : (
        <>
          <SettingRow title={t('accountName')} text={data.name} />
          {facts}
        </>
      )}
    </Panel>
  )
}

interface AccountFormProps {
  readonly settings: Settings
  readonly children: ReactNode
}

function AccountForm({ settings, children }: AccountFormProps) {
  const t = useMessages(messages)
  const change = useAdminChange('PATCH /accounts/:account_id')
  // As the form was opened or saved: what others change meanwhile is not a change of this form.
  const [opened, setOpened] = useState(() => toBody(settings))
  const save = async ({ low = '', networks = '', ...fields }: Readonly<Record<string, string>>) => {
    const body = {
      name: fields.name ?? '',
      low_balance_at: plainNumber(low) || null,
      alert_url: fields.url?.trim() || null,
      allowed_ips: networks.split(',').filter((network) => network !== ''),
    }
    // The field of networks shows what is stored now.
    const before = { ...opened, allowed_ips: settings.allowed_ips }
    await change.mutateAsync({
      params: { account_id: settings.id },
      body: onlyChanged(before, body),
    })
    setOpened(body)
    notifyDone(t('saved'))
  }
  return (
    <SubmitForm act={t('save')} onSend={save} isInline>
      <AccountFields settings={settings} />
      {children}
    </SubmitForm>
  )
}

function toBody({ name, low_balance_at, alert_url, allowed_ips }: Settings) {
  return { name, low_balance_at, alert_url, allowed_ips }
}

interface FieldsProps {
  readonly settings: Settings
}

function AccountFields({ settings }: FieldsProps) {
  const t = useMessages(messages)
  return (
    <>
      <CheckedField param="name">
        {(error) => (
          <TextInput
            name="name"
            label={t('accountName')}
            error={error}
            defaultValue={settings.name}
            required
          />
        )}
      </CheckedField>
      <CheckedField param="low_balance_at">
        {(error) => (
          <TextInput
            name="low"
            label={t('lowBalance')}
            description={t('lowBalanceHint', { currency: settings.currency })}
            error={error}
            defaultValue={settings.low_balance_at ?? ''}
            inputMode="decimal"
          />
        )}
      </CheckedField>
      <CheckedField param="alert_url">
        {(error) => (
          <TextInput
            name="url"
            label={t('alertUrl')}
            description={t('alertUrlHint')}
            placeholder="https://"
            maxLength={2048}
            error={error}
            defaultValue={settings.alert_url ?? ''}
          />
        )}
      </CheckedField>
      <CheckedField param="allowed_ips">
        {(error) => (
          <TagsInput
            name="networks"
            label={t('allowedIps')}
            description={t('allowedIpsHint')}
            error={error}
            placeholder="10.0.0.0/8"
            key={settings.allowed_ips.join()}
            defaultValue={settings.allowed_ips}
          />
        )}
      </CheckedField>
    </>
  )
}
