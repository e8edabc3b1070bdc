/** One budget: what is left of it, its terms, its end users, and what an owner can do. */
import { Button, Group, Loader, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { ConfirmButton } from '../../components/form/confirm-dialog.tsx'
import { Icon } from '../../components/icon.tsx'
import { ButtonLink } from '../../components/links.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { FieldFacts } from '../../components/list/fields.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount, useSession } from '../../lib/session.tsx'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { type AccountBudget, isSpendLimit } from './budget.ts'
import { EditBudget } from './budget-forms.tsx'
import { EndUsers } from './end-users.tsx'
import { BUDGET_FIELDS, budgetName } from './fields.tsx'
import { messages } from './messages.ts'
import { UsageBar } from './usage-bar.tsx'

const ONE = 'GET /accounts/:account_id/budgets/:budget_id'

interface BudgetDrawerProps {
  /** '' while none is open. */
  readonly id: string
  readonly onClose: () => void
}

export function BudgetDrawer({ id, onClose }: BudgetDrawerProps) {
  const t = useMessages(messages)
  const params = { account_id: useAccount().id, budget_id: id }
  const { data, error, isPending, refetch } = useAdmin(
    ONE,
    { params },
    { enabled: id !== '', live: ['usage', 'balance'] },
  )
  const shown = id === '' ? undefined : data
  return (
    <DetailDrawer isOpen={id !== ''} title={shown ? budgetName(shown, t) : id} onClose={onClose}>
      {shown ? <Details key={shown.id} budget={shown} onClose={onClose} /> : null}
      {id !== '' && isPending ? <Loader size="sm" /> : null}
      {error ? <ErrorState error={error} onRetry={() => void refetch()} /> : null}
    </DetailDrawer>
  )
}

interface DetailsProps {
  readonly budget: AccountBudget
  readonly onClose: () => void
}

function Details({ budget, onClose }: DetailsProps) {
  const [isEditing, setEditing] = useState(false)
  if (isEditing) return <EditBudget budget={budget} onClose={() => setEditing(false)} />
  return (
    <Stack gap="md">
      <Acts budget={budget} onEdit={() => setEditing(true)} onClose={onClose} />
      <UsageBar budget={budget} isLarge />
      <FieldFacts messages={messages} fields={BUDGET_FIELDS} row={budget} />
      {budget.end_users ? <EndUsers budget={budget} /> : null}
    </Stack>
  )
}

interface ActsProps extends DetailsProps {
  readonly onEdit: () => void
}

function Acts({ budget, onEdit, onClose }: ActsProps) {
  const t = useMessages(messages)
  const { session } = useSession()
  const { isOwner } = useAccount()
  const isLocked = budget.set_by === 'operator' && !session.user.operator
  return (
    <>
      <Group gap="xs">
        {isSpendLimit(budget) ? (
          <ButtonLink to="/keys" search={{ id: budget.id }} variant="default" size="compact-sm">
            {t('openKey')}
          </ButtonLink>
        ) : null}
        {isOwner && !isLocked && !isSpendLimit(budget) ? (
          <>
            <Button
              variant="default"
              size="compact-sm"
              leftSection={<Icon name="edit" size={14} />}
              onClick={onEdit}
            >
              {t('edit')}
            </Button>
            <Removal budget={budget} onRemoved={onClose} />
          </>
        ) : null}
        <ButtonLink to="/usage" search={callsOf(budget)} variant="subtle" size="compact-sm">
          {t('showCalls')}
        </ButtonLink>
      </Group>
      {isOwner && isLocked && !isSpendLimit(budget) ? (
        <Text size="sm" c="dimmed">
          {t('setByOperator')}
        </Text>
      ) : null}
    </>
  )
}

/** The filters of the usage page that come nearest to what the budget counts. */
function callsOf({ scope, subject, models, window_start: from }: AccountBudget) {
  const [only] = models ?? []
  return {
    from,
    ...(scope === 'key' && subject ? { key: subject } : {}),
    ...(scope === 'tag' && subject ? { tag: subject } : {}),
    ...(models?.length === 1 && only ? { model: only } : {}),
  }
}

function Removal({
  budget,
  onRemoved,
}: {
  readonly budget: AccountBudget
  readonly onRemoved: () => void
}) {
  const t = useMessages(messages)
  const { id: accountId } = useAccount()
  const remove = useAdminChange('DELETE /accounts/:account_id/budgets/:budget_id', {
    refreshes: ['GET /accounts/:account_id/budgets'],
  })
  return (
    <ConfirmButton
      size="compact-sm"
      leftSection={<Icon name="trash" size={14} />}
      title={t('removeTitle')}
      act={t('remove')}
      isDangerous
      onConfirm={async () => {
        await remove.mutateAsync({ params: { account_id: accountId, budget_id: budget.id } })
        notifyDone(t('deleted'))
        onRemoved()
      }}
    >
      {budgetName(budget, t)}. {t('removeText')}
    </ConfirmButton>
  )
}
