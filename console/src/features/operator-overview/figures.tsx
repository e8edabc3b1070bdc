/** The figures of the period, a row for each currency. */
import { Stack } from '@mantine/core'
import { MoneyText } from '../../components/money-text.tsx'
import { StatTile, StatTiles } from '../../components/stat-tile.tsx'
import { formatNumber, formatShare } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'
import type { Overview } from './page.tsx'

export function Figures({ overview }: { readonly overview: Overview }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  return (
    <Stack gap="md">
      {overview.currencies.map((one) => {
        const money = (amount: string) => (
          <MoneyText amount={amount} currency={one.currency} places={2} />
        )
        const rate = one.calls > 0 ? one.errors / one.calls : 0
        return (
          <StatTiles key={one.currency}>
            <StatTile label={t('revenue')} value={money(one.revenue)} to="/operator/calls" />
            <StatTile
              label={t('calls')}
              value={formatNumber(one.calls, language)}
              to="/operator/calls"
            />
            <StatTile
              label={t('errors')}
              value={formatShare(rate, language)}
              note={one.errors > 0 ? formatNumber(one.errors, language) : null}
              to="/operator/calls"
              search={{ status: 'failed' }}
            />
            <StatTile label={t('available')} value={money(one.available)} to="/operator/accounts" />
            <StatTile label={t('held')} value={money(one.held)} to="/operator/proof" />
            <StatTile
              label={t('debt')}
              value={money(one.debt)}
              to="/operator/accounts"
              search={{ in_debt: 'true' }}
            />
          </StatTiles>
        )
      })}
      <StatTiles>
        <StatTile
          label={t('activeAccounts')}
          value={formatNumber(overview.active_accounts, language)}
          to="/operator/accounts"
        />
        <StatTile
          label={t('openTasks')}
          value={formatNumber(overview.open_tasks, language)}
          to="/operator/tasks"
          search={{ status: 'open' }}
        />
      </StatTiles>
    </Stack>
  )
}
