/** The totals of the period. */

import { StatTile, StatTiles } from '../../components/page/stat-tile.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { formatDuration, formatNumber, formatShare, sumPlaces } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import type { Summary } from './answers.ts'
import { messages } from './messages.ts'

export function UsageTotals({ summary }: { readonly summary: Summary }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { totals, currency, from, to } = summary
  const { calls, errors, charged, latency } = totals
  const proof = { to: '/usage', search: { from, to } }
  const slow = latency.p95_ms
  return (
    <StatTiles>
      <StatTile
        label={t('spend')}
        value={<MoneyText amount={charged} currency={currency} places={sumPlaces(charged)} />}
        {...proof}
      />
      <StatTile label={t('calls')} value={formatNumber(calls, language)} {...proof} />
      <StatTile
        label={t('errorRate')}
        value={calls > 0 ? formatShare(errors / calls, language) : '–'}
        note={t('failedCount', { count: formatNumber(errors, language) })}
        to="/usage"
        search={{ from, to, status: 'failed' }}
      />
      <StatTile
        label={t('latency')}
        value={latency.p50_ms === null ? '–' : formatDuration(latency.p50_ms, language)}
        note={slow === null ? undefined : `${t('slowest')}: ${formatDuration(slow, language)}`}
        {...proof}
      />
    </StatTiles>
  )
}
