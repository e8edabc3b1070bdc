/** The budgets of an account: what is spent, on hold and left, and when each resets. */

import { Button } from '@mantine/core'
import { BUDGET_SCOPES } from '../../../../server/base/lib/kinds-and-states.ts'
import { useKeyChoice } from '../../components/fields/use-key-choice.ts'
import { Icon } from '../../components/icon.tsx'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { ListPage } from '../../components/list/list-page.tsx'
import { asQuery } from '../../lib/as-query.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useListState } from '../../lib/list-state.ts'
import { useAccount } from '../../lib/session.tsx'
import { useUrlState } from '../../lib/url-state.ts'
import { useAdminPages } from '../../lib/use-admin.ts'
import { LIST } from './budget.ts'
import { BudgetDrawer } from './budget-drawer.tsx'
import { BudgetCreation } from './budget-forms.tsx'
import { BUDGET_FIELDS } from './fields.tsx'
import { messages } from './messages.ts'

export function Page() {
  const t = useMessages(messages)
  const { id: accountId, isOwner } = useAccount()
  const params = { account_id: accountId }
  const list = useListState(['search', 'scope', 'key', 'full'])
  const url = useUrlState(['add', 'id'])
  const pages = useAdminPages(
    LIST,
    { params, query: asQuery(LIST, list.filters) },
    { live: ['usage', 'balance'], keepPrevious: true },
  )
  const { options, onSearch } = useKeyChoice(list.filters.key)
  const current = options.filter(
    ({ value, isReplaced }) => !isReplaced || value === list.filters.key,
  )
  const create = isOwner ? (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => url.push({ add: 'new' })}>
      {t('create')}
    </Button>
  ) : undefined
  const close = () => url.push({ add: '' })
  return (
    <ListPage
      messages={messages}
      fields={BUDGET_FIELDS}
      actions={create}
      filters={[
        { name: 'search', word: 'search' },
        {
          name: 'scope',
          word: 'who',
          options: BUDGET_SCOPES.map((value) => ({ value, label: t(`scope_${value}`) })),
        },
        { name: 'key', word: 'ofKey', options: current, onSearch },
        { name: 'full', word: 'state', option: 'full' },
      ]}
      list={list}
      pages={pages}
      rowId={({ id }) => id}
      icon="gauge"
      emptyAction={create}
    >
      <BudgetDrawer id={list.openId} onClose={list.close} />
      <DetailDrawer isOpen={isOwner && url.values.add !== ''} title={t('create')} onClose={close}>
        <BudgetCreation
          keyId={list.filters.key}
          onCreated={(id) => url.push({ add: '', id })}
          onClose={close}
        />
      </DetailDrawer>
    </ListPage>
  )
}
