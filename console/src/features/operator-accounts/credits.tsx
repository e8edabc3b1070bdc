/** Manual credits and corrections, and the form that books them. */

import { Box, Select, Stack, Table, Text, TextInput, Title } from '@mantine/core'
import { useRef, useState } from 'react'
import { CREDIT_KINDS } from '../../../../server/base/lib/kinds-and-states.ts'
import { CheckedRow } from '../../components/fields/checked-row.tsx'
import { CheckedField, CheckedForm } from '../../components/form/checked-form.tsx'
import { SubmitButtons } from '../../components/form/submit-form.tsx'
import { useSubmit } from '../../components/form/use-submit.ts'
import { ErrorState } from '../../components/state/error-state.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { MoneyText } from '../../components/text/money-text.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { plainNumber } from '../../lib/nanos.ts'
import { useAdminChange, useAdminPages } from '../../lib/use-admin.ts'
import type { Account } from './account.ts'
import { messages } from './messages.ts'

type Kind = (typeof CREDIT_KINDS)[number]

const isKind = (text: string | null): text is Kind => CREDIT_KINDS.some((kind) => kind === text)

export function Credits({ account }: { readonly account: Account }) {
  return (
    <Stack gap="lg">
      <CreditForm account={account} />
      <History account={account} />
    </Stack>
  )
}

function CreditForm({ account }: { readonly account: Account }) {
  const t = useMessages(messages)
  const post = usePost(account.id)
  const [amount, setAmount] = useState('')
  const [kind, setKind] = useState<Kind>('top_up')
  const [reason, setReason] = useState('')
  const { isBusy, failure, submit } = useSubmit<undefined>(async () => {
    await post({ amount: plainNumber(amount), kind, reason })
    setAmount('')
    setReason('')
    notifyDone(t('posted', { name: account.name }))
  })
  return (
    <CheckedForm
      failure={failure}
      isBusy={isBusy}
      onSubmit={() => submit(undefined)}
      actions={<SubmitButtons act={t(`act_${kind}`)} isBusy={isBusy} isInline />}
    >
      <Title order={3} size="h4">
        {t('creditTitle')}
      </Title>
      <CheckedRow fields={[{ param: 'amount', label: t('amount') }]} grow>
        <CheckedField param="amount">
          {(error) => (
            <TextInput
              label={`${t('amount')} (${account.currency})`}
              required
              inputMode="decimal"
              error={error}
              value={amount}
              onChange={({ currentTarget }) => setAmount(currentTarget.value)}
            />
          )}
        </CheckedField>
        <Select
          label={t('kind')}
          allowDeselect={false}
          data={CREDIT_KINDS.map((value) => ({ value, label: t(value) }))}
          value={kind}
          onChange={(chosen) => {
            if (isKind(chosen)) setKind(chosen)
          }}
        />
      </CheckedRow>
      <CheckedField param="reason">
        {(error) => (
          <TextInput
            label={t('reason')}
            description={t('reasonNote')}
            required
            maxLength={500}
            error={error}
            value={reason}
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
          />
        )}
      </CheckedField>
    </CheckedForm>
  )
}

interface Credit {
  readonly amount: string
  readonly kind: Kind
  readonly reason: string
}

/** Names a credit until its answer has come: sent again without a change, it is posted once. */
function usePost(accountId: string) {
  const change = useAdminChange('POST /operator/accounts/:account_id/credits')
  const last = useRef<{ readonly credit: string; readonly eventId: string }>(undefined)
  return async (body: Credit) => {
    const credit = JSON.stringify(body)
    if (last.current?.credit !== credit) {
      const random = crypto.getRandomValues(new Uint32Array(4))
      last.current = { credit, eventId: `console-${random.join('-')}` }
    }
    const { eventId } = last.current
    const params = { account_id: accountId }
    await change.mutateAsync({ params, body: { ...body, event_id: eventId } })
    last.current = undefined
  }
}

function History({ account }: { readonly account: Account }) {
  const t = useMessages(messages)
  const params = { account_id: account.id }
  const pages = useAdminPages('GET /operator/accounts/:account_id/credits', { params })
  const { rows, error, isPending } = pages
  return (
    <Box>
      <Title order={3} size="h4" mb={6}>
        {t('history')}
      </Title>
      {error ? <ErrorState error={error} onRetry={pages.retry} /> : null}
      {rows.length === 0 && !error && !isPending ? (
        <Text size="sm" c="dimmed">
          {t('historyEmpty')}
        </Text>
      ) : null}
      {rows.length > 0 ? (
        <Table aria-label={t('history')}>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={row.id}>
                <Table.Td valign="top">
                  <TimeText time={row.created_at} />
                </Table.Td>
                <Table.Td>
                  {t(row.kind)}
                  <Text size="xs" c="dimmed">
                    {row.reason} · {t('by')} {row.actor}
                  </Text>
                </Table.Td>
                <Table.Td ta="right" valign="top">
                  <MoneyText amount={row.amount} currency={account.currency} places={2} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      ) : null}
    </Box>
  )
}
