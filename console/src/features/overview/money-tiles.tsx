/** Tiles for available, held, owed and today's spend, kept up to date. */

import { StatTile, StatTiles } from '../../components/page/stat-tile.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { formatNumber, formatShare, isZero, sumPlaces } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import type { AccountOverview } from './answers.ts'
import { messages } from './messages.ts'

/** Longer forecasts are not shown. */
const DAYS_WORTH_TELLING = 365

export function MoneyTiles({ overview }: { readonly overview: AccountOverview }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { balance, currency, low_balance: low, tasks, spend } = overview
  const money = (amount: string, places = 2) => (
    <MoneyText amount={amount} currency={currency} places={places} />
  )
  const days = low.days_left
  const underWay = formatNumber(tasks.queued + tasks.processing, language)
  return (
    <StatTiles>
      <StatTile
        label={t('available')}
        value={money(balance.available)}
        note={
          days === null || days > DAYS_WORTH_TELLING
            ? undefined
            : t('daysLeft', { count: Math.floor(days) })
        }
        to="/billing"
      />
      <StatTile
        label={t('held')}
        hint={t('heldHint')}
        value={money(balance.held)}
        note={isZero(balance.held) ? undefined : t('heldNote', { count: underWay })}
        to="/tasks"
      />
      <StatTile
        label={t('debt')}
        hint={t('debtHint')}
        value={money(balance.debt)}
        note={isZero(balance.debt) ? undefined : t('debtNote')}
        to="/billing"
      />
      <StatTile
        label={t('today')}
        value={money(spend.today.charged, sumPlaces(spend.today.charged))}
        note={useComparison(spend)}
        to="/usage"
      />
    </StatTiles>
  )
}

/** Compares in percent, for which a float is exact enough. */
function useComparison({ today, yesterday_by_now: before }: AccountOverview['spend']): string {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const past = Number(before.charged)
  if (past === 0) return t('noYesterday', { count: formatNumber(today.calls, language) })
  const change = (Number(today.charged) - past) / past
  const share = formatShare(Math.abs(change), language)
  return t(change < 0 ? 'lessThanYesterday' : 'moreThanYesterday', { share })
}
