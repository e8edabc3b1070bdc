/** The figures of the period, a row for each currency. */
import { Stack } from '@mantine/core'
import { Fragment } from 'react'
import { StatTile, StatTiles } from '../../components/page/stat-tile.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { formatNumber, formatShare, isZero } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import type { OperatorOverview } from './answer.ts'
import { messages } from './messages.ts'

type Currency = OperatorOverview['currencies'][number]

export function OperatorFigures({ overview }: { readonly overview: OperatorOverview }) {
  const last = overview.currencies.at(-1)
  return (
    <Stack gap="md">
      {overview.currencies.map((one) => (
        <Fragment key={one.currency}>
          <StatTiles>
            <Earnings figures={one} />
            <Work figures={one} />
          </StatTiles>
          <StatTiles>
            <Balances figures={one} />
            {one === last ? <Now overview={overview} /> : null}
          </StatTiles>
        </Fragment>
      ))}
      {last ? null : (
        <StatTiles>
          <Now overview={overview} />
        </StatTiles>
      )}
    </Stack>
  )
}

/** Current figures without a currency. */
function Now({ overview }: { readonly overview: OperatorOverview }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  return (
    <>
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
    </>
  )
}

interface TilesProps {
  readonly figures: Currency
}

function Money({ amount, currency }: { readonly amount: string; readonly currency: string }) {
  return <MoneyText amount={amount} currency={currency} places={2} />
}

/** Revenue, upstream cost, and the margin where both are known. */
function Earnings({ figures }: TilesProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const {
    currency,
    revenue,
    upstream_cost: cost,
    margin,
    uncosted_share: unknown,
    margin_share: share,
  } = figures
  const isKnown = margin !== null
  return (
    <>
      <StatTile
        label={t('revenue')}
        value={<Money amount={revenue} currency={currency} />}
        note={unknown ? t('ofUnknownCost', { share: formatShare(unknown, language) }) : null}
        to="/operator/calls"
      />
      <StatTile
        label={t('cost')}
        value={isKnown ? <Money amount={cost} currency={currency} /> : '–'}
        note={isKnown ? null : t('costUnknown')}
        to="/operator/models"
      />
      <StatTile
        label={t('margin')}
        value={isKnown ? <Money amount={margin} currency={currency} /> : '–'}
        note={share === null ? null : t('ofRevenue', { share: formatShare(share, language) })}
        to="/operator/calls"
        search={{ loss: 'true' }}
      />
      <NotCharged figures={figures} />
    </>
  )
}

/** Upstream cost that nobody paid; shown only if there is any. */
function NotCharged({ figures }: TilesProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { currency, uncharged_count: count, uncharged, written_off: forgiven } = figures
  return (
    <>
      {count > 0 ? (
        <StatTile
          label={t('uncharged')}
          value={<Money amount={uncharged} currency={currency} />}
          note={t('unchargedCount', { count: formatNumber(count, language) })}
          to="/operator/proof"
        />
      ) : null}
      {isZero(forgiven) ? null : (
        <StatTile
          label={t('writtenOff')}
          value={<Money amount={forgiven} currency={currency} />}
          to="/operator/accounts"
        />
      )}
    </>
  )
}

function Work({ figures }: TilesProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { calls, errors } = figures
  return (
    <>
      <StatTile label={t('calls')} value={formatNumber(calls, language)} to="/operator/calls" />
      <StatTile
        label={t('errors')}
        value={formatShare(calls > 0 ? errors / calls : 0, language)}
        note={errors > 0 ? formatNumber(errors, language) : null}
        to="/operator/calls"
        search={{ status: 'failed' }}
      />
    </>
  )
}

function Balances({ figures }: TilesProps) {
  const t = useMessages(messages)
  const { currency, available, held, debt } = figures
  return (
    <>
      <StatTile
        label={t('available')}
        value={<Money amount={available} currency={currency} />}
        to="/operator/accounts"
      />
      <StatTile
        label={t('held')}
        value={<Money amount={held} currency={currency} />}
        to="/operator/proof"
      />
      <StatTile
        label={t('debt')}
        value={<Money amount={debt} currency={currency} />}
        to="/operator/accounts"
        search={{ in_debt: 'true' }}
      />
    </>
  )
}
