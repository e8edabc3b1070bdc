/** The limits of an account; an empty field means none. */
import { NumberInput, Title } from '@mantine/core'
import { useState } from 'react'
import { CheckedRow } from '../../components/fields/checked-row.tsx'
import { CheckedField, CheckedForm } from '../../components/form/checked-form.tsx'
import { onlyChanged } from '../../components/form/list-changes.ts'
import { SubmitButtons } from '../../components/form/submit-form.tsx'
import { useSubmit } from '../../components/form/use-submit.ts'
import { notifyDone } from '../../components/state/notify.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import type { Account } from './account.ts'
import { messages } from './messages.ts'

export function LimitsForm({ account }: { readonly account: Account }) {
  const t = useMessages(messages)
  const change = useAdminChange('PATCH /operator/accounts/:account_id')
  const [opened, setOpened] = useState(() => ({
    requests_per_minute: account.limits.requests_per_minute ?? null,
    tokens_per_minute: account.limits.tokens_per_minute ?? null,
    concurrent_calls: account.limits.concurrent_calls ?? null,
  }))
  const [requests, setRequests] = useState<number | string>(opened.requests_per_minute ?? '')
  const [tokens, setTokens] = useState<number | string>(opened.tokens_per_minute ?? '')
  const [calls, setCalls] = useState<number | string>(opened.concurrent_calls ?? '')
  const read = (value: number | string) => (value === '' ? null : Number(value))
  const { isBusy, failure, submit } = useSubmit<undefined>(async () => {
    const limits = {
      requests_per_minute: read(requests),
      tokens_per_minute: read(tokens),
      concurrent_calls: read(calls),
    }
    const body = { limits: onlyChanged(opened, limits) }
    await change.mutateAsync({ params: { account_id: account.id }, body })
    setOpened(limits)
    notifyDone(t('saved'))
  })
  const fields = [
    {
      param: 'limits.requests_per_minute',
      label: t('requestsPerMinute'),
      value: requests,
      set: setRequests,
    },
    {
      param: 'limits.tokens_per_minute',
      label: t('tokensPerMinute'),
      value: tokens,
      set: setTokens,
    },
    { param: 'limits.concurrent_calls', label: t('concurrentCalls'), value: calls, set: setCalls },
  ]
  const inputs = fields.map(({ param, label, value, set }) => (
    <CheckedField key={param} param={param}>
      {(error) => (
        <NumberInput
          label={label}
          w={160}
          min={1}
          allowDecimal={false}
          placeholder={t('noLimit')}
          error={error}
          value={value}
          onChange={set}
        />
      )}
    </CheckedField>
  ))
  return (
    <CheckedForm
      failure={failure}
      isBusy={isBusy}
      onSubmit={() => submit(undefined)}
      actions={<SubmitButtons act={t('save')} isBusy={isBusy} isInline />}
    >
      <Title order={3} size="h4">
        {t('limits')}
      </Title>
      <CheckedRow fields={fields}>{inputs}</CheckedRow>
    </CheckedForm>
  )
}
