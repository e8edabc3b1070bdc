/** The end users of a budget, and what each has spent in the current window. */
import { Stack, Text, Title } from '@mantine/core'
import { TextLink } from '../../components/links.tsx'
import { type Column, RowTable } from '../../components/list/row-table.tsx'
import { formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { type AccountBudget, wordQuantity } from './budget.ts'
import { messages } from './messages.ts'

type User = NonNullable<AccountBudget['end_users']>[number]

export function EndUsers({ budget }: { readonly budget: AccountBudget }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { end_users: users, end_users_counted: counted, max_end_users: max } = budget
  const rows = users ?? []
  const columns = useColumns(budget)
  const number = (count: number | null) => formatNumber(count ?? 0, language)
  return (
    <Stack gap={4}>
      <Title order={3} size="h4">
        {t('endUsers')}
      </Title>
      <Text size="sm" c="dimmed">
        {t('endUsersCounted', { count: number(counted), max: number(max) })}
        {rows.length < (counted ?? 0) ? ` · ${t('endUsersShown', { count: rows.length })}` : ''}
      </Text>
      {rows.length > 0 ? (
        <RowTable
          label={t('endUsers')}
          rows={rows}
          columns={columns}
          rowId={({ end_user: name }) => name ?? ''}
          isDense
        />
      ) : null}
    </Stack>
  )
}

function useColumns(budget: AccountBudget): readonly Column<User>[] {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const figure = (key: 'spent' | 'held' | 'remaining', header: string): Column<User> => ({
    key,
    header,
    align: 'right',
    render: (user) => wordQuantity(budget, user[key], language),
  })
  return [
    {
      key: 'name',
      header: t('endUsers'),
      render: ({ end_user: name }) => {
        if (name === null) return t('unnamed')
        if (name === '*') return t('others')
        return (
          <TextLink to="/usage" search={{ end_user: name, from: budget.window_start }} size="xs">
            {name}
          </TextLink>
        )
      },
    },
    figure('spent', t('spent')),
    figure('held', t('held')),
    figure('remaining', t('left')),
  ]
}
