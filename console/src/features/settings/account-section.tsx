/** The account's name, its low-balance warning, its networks, and where its alerts go. */
import { Skeleton, TagsInput, TextInput } from '@mantine/core'
import { CheckedField } from '../../components/form/checked-form.tsx'
import { SubmitForm } from '../../components/form/submit-form.tsx'
import { Panel } from '../../components/page/panel.tsx'
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

export function AccountSection({ account }: { readonly account: Selected }) {
  const t = useMessages(messages)
  const params = { account_id: account.id }
  const { data, isPending } = useAdmin('GET /accounts/:account_id', { params })
  const change = useAdminChange('PATCH /accounts/:account_id')
  if (!data) return isPending ? <Skeleton height={320} aria-busy /> : null
  const save = async (fields: Readonly<Record<string, string>>) => {
    const { name = '', low = '', networks = '', url = '' } = fields
    const body = {
      name,
      low_balance_at: plainNumber(low) || null,
      alert_url: url.trim() || null,
      allowed_ips: networks.split(',').filter((network) => network !== ''),
    }
    await change.mutateAsync({ params, body })
    notifyDone(t('saved'))
  }
  const id = <SettingRow title="ID" text={<CopyText value={data.id} />} />
  if (!account.isOwner) {
    return (
      <Panel title={t('account')}>
        <SettingRow title={t('accountName')} text={data.name} />
        {id}
        <LimitsTable limits={data.limits} />
      </Panel>
    )
  }
  return (
    <Panel title={t('account')}>
      <SubmitForm act={t('save')} onSend={save} isInline>
        <AccountFields settings={data} />
        {id}
        <LimitsTable limits={data.limits} />
      </SubmitForm>
    </Panel>
  )
}

interface FieldsProps {
  readonly settings: AdminAnswer<'GET /accounts/:account_id'>
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
