/** One account: its money, the operator's actions and their history. */

import { Button, Group, Stack } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/form/confirm-dialog.tsx'
import { TextLink } from '../../components/links.tsx'
import { FieldFacts } from '../../components/list/fields.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { nameAccount } from '../../components/text/name-account.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useSession } from '../../lib/session.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import type { Account } from './account.ts'
import { Credits } from './credits.tsx'
import { ACCOUNT_FIELDS } from './fields.tsx'
import { LimitsForm } from './limits-form.tsx'
import { messages } from './messages.ts'
import { SuspendDialog } from './suspend-dialog.tsx'

export function AccountDetails({ account }: { readonly account: Account }) {
  const t = useMessages(messages)
  return (
    <Stack gap="lg">
      <FieldFacts messages={messages} fields={ACCOUNT_FIELDS} row={account} />
      <Group gap="md">
        <TextLink to="/operator/calls" search={{ account: account.id }}>
          {t('calls')}
        </TextLink>
        <TextLink to="/operator/tasks" search={{ account: account.id }}>
          {t('tasks')}
        </TextLink>
        <TextLink to="/budgets" search={{ account: account.id }}>
          {t('budgets')}
        </TextLink>
        <TextLink to="/operator/price-lists" search={{ account: account.id }}>
          {t('prices')}
        </TextLink>
        <TextLink to="/settings" search={{ account: account.id }}>
          {t('alertSettings')}
        </TextLink>
      </Group>
      <AccountActions account={account} />
      <LimitsForm account={account} />
      <Credits account={account} />
    </Stack>
  )
}

function AccountActions({ account }: { readonly account: Account }) {
  const t = useMessages(messages)
  const { select } = useSession()
  const navigate = useNavigate()
  // Kept, because the account's status changes before the dialog has closed.
  const [confirming, setConfirming] = useState<'suspend' | 'resume'>()
  const resume = useAdminChange('POST /operator/accounts/:account_id/resume')
  const see = () => {
    select({ id: account.id, name: account.name })
    void navigate({ to: '/' })
  }
  const params = { account_id: account.id }
  return (
    <Group gap="xs">
      <Button variant="default" onClick={see}>
        {t('seeAs')}
      </Button>
      <Button
        variant="default"
        onClick={() => setConfirming(account.status === 'active' ? 'suspend' : 'resume')}
      >
        {account.status === 'active' ? t('suspend') : t('resume')}
      </Button>
      <SuspendDialog
        account={account}
        isOpen={confirming === 'suspend'}
        onClose={() => setConfirming(undefined)}
      />
      <ConfirmDialog
        isOpen={confirming === 'resume'}
        title={t('resume')}
        act={t('resume')}
        onClose={() => setConfirming(undefined)}
        onConfirm={async () => {
          await resume.mutateAsync({ params })
          notifyDone(t('resumed', { name: account.name }))
        }}
      >
        {nameAccount(account)}
      </ConfirmDialog>
    </Group>
  )
}
