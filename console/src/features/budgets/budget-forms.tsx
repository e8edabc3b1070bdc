/** Creates a budget, and changes one. */
import { Text } from '@mantine/core'
import { useState } from 'react'
import { CheckedSubmitForm } from '../../components/form/checked-submit-form.tsx'
import { InvalidFields } from '../../components/form/invalid-field.ts'
import { onlyChanged } from '../../components/form/list-changes.ts'
import { notifyDone } from '../../components/state/notify.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import type { AccountBudget } from './budget.ts'
import { ActionFields, AmountField, BudgetFields } from './budget-fields.tsx'
import { type BudgetDraft, checkDraft, newDraft, toBody, toChange, toDraft } from './draft.ts'
import { messages } from './messages.ts'

/** Returns a check that throws for the fields that are wrong. */
function useCheck() {
  const t = useMessages(messages)
  return (draft: BudgetDraft) => {
    const wrong = checkDraft(draft, t)
    if (wrong.length > 0) throw new InvalidFields(wrong)
  }
}

interface BudgetCreationProps {
  /** The key to begin with, or ''. */
  readonly keyId: string
  readonly onCreated: (id: string) => void
  readonly onClose: () => void
}

export function BudgetCreation({ keyId, onCreated, onClose }: BudgetCreationProps) {
  const t = useMessages(messages)
  const check = useCheck()
  const params = { account_id: useAccount().id }
  const { data: balance } = useAdmin('GET /accounts/:account_id/balance', { params })
  const [draft, setDraft] = useState(() => newDraft(keyId))
  const create = useAdminChange('POST /accounts/:account_id/budgets')
  const send = async () => {
    check(draft)
    const created = await create.mutateAsync({ params, body: toBody(draft) })
    notifyDone(t('made'))
    onCreated(created.id)
  }
  return (
    <CheckedSubmitForm act={t('create')} onSend={send} onCancel={onClose}>
      <BudgetFields draft={draft} currency={balance?.currency ?? ''} onChange={setDraft} />
    </CheckedSubmitForm>
  )
}

interface EditBudgetProps {
  readonly budget: AccountBudget
  readonly onClose: () => void
}

export function EditBudget({ budget, onClose }: EditBudgetProps) {
  const t = useMessages(messages)
  const check = useCheck()
  const { id: accountId } = useAccount()
  // As it was opened: live updates of the budget meanwhile are not changes of this form.
  const [opened] = useState(() => toDraft(budget))
  const [draft, setDraft] = useState(opened)
  const apply = (changes: Partial<BudgetDraft>) => setDraft({ ...draft, ...changes })
  const change = useAdminChange('PATCH /accounts/:account_id/budgets/:budget_id')
  const send = async () => {
    check(draft)
    const params = { account_id: accountId, budget_id: budget.id }
    await change.mutateAsync({ params, body: onlyChanged(toChange(opened), toChange(draft)) })
    notifyDone(t('made'))
    onClose()
  }
  return (
    <CheckedSubmitForm act={t('save')} onSend={send} onCancel={onClose}>
      <Text size="sm" c="dimmed">
        {t('fixed')}
      </Text>
      <AmountField draft={draft} currency={budget.currency} onChange={apply} />
      <ActionFields draft={draft} onChange={apply} />
    </CheckedSubmitForm>
  )
}
