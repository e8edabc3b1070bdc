/** The figures of the period: each tile has one amount for each currency, never a sum of them. */
import { Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { StatTile, StatTiles } from '../../components/page/stat-tile.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { formatNumber, formatShare, isZero, SUM_PLACES } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import type { OperatorOverview } from './answer.ts'
import { earningsPlaces } from './earnings-places.ts'
import { messages } from './messages.ts'

type Currency = OperatorOverview['currencies'][number]

interface TilesProps {
  readonly rows: readonly Currency[]
}

export function OperatorFigures({ overview }: { readonly overview: OperatorOverview }) {
  const { currencies } = overview
  const hasAccounts = currencies.length > 0
  const used = currencies.filter(({ calls }) => calls > 0)
  const earning = used.length > 0 ? used : currencies
  return (
    <Stack gap="md">
      {hasAccounts ? (
        <StatTiles>
          <Earnings rows={earning} />
          <Work rows={currencies} />
        </StatTiles>
      ) : null}
      <StatTiles>
        {hasAccounts ? <Balances rows={currencies} /> : null}
        <Now overview={overview} />
      </StatTiles>
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

interface AmountsProps extends TilesProps {
  /** Null for an unknown one. */
  readonly amountOf: (row: Currency) => string | null
  readonly noteOf?: (row: Currency) => string | null
  readonly placesOf?: (row: Currency) => number
}

/** One line for each currency, with its note below it. */
function Amounts({ rows, amountOf, noteOf, placesOf }: AmountsProps): ReactNode {
  return rows.map((row) => {
    const amount = amountOf(row)
    const note = noteOf?.(row)
    return (
      <div key={row.currency}>
        {amount === null ? (
          '–'
        ) : (
          <MoneyText
            amount={amount}
            currency={row.currency}
            places={placesOf?.(row) ?? SUM_PLACES}
          />
        )}
        {note ? (
          <Text size="xs" c="dimmed" fw={400} component="div">
            {note}
          </Text>
        ) : null}
      </div>
    )
  })
}

/** Revenue, upstream cost, and the margin where both are known. */
function Earnings({ rows }: TilesProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const shareOf = (share: number) => ({ share: formatShare(share, language) })
  return (
    <>
      <StatTile
        label={t('revenue')}
        value={
          <Amounts
            rows={rows}
            amountOf={({ revenue }) => revenue}
            placesOf={earningsPlaces}
            noteOf={({ uncosted_share: share }) =>
              share ? t('ofUnknownCost', shareOf(share)) : null
            }
          />
        }
        to="/operator/calls"
      />
      <StatTile
        label={t('cost')}
        value={
          <Amounts
            rows={rows}
            amountOf={({ margin, upstream_cost: cost }) => (margin === null ? null : cost)}
            placesOf={earningsPlaces}
            noteOf={({ margin }) => (margin === null ? t('costUnknown') : null)}
          />
        }
        to="/operator/models"
      />
      <StatTile
        label={t('margin')}
        value={
          <Amounts
            rows={rows}
            amountOf={({ margin }) => margin}
            placesOf={earningsPlaces}
            noteOf={({ margin_share: share }) =>
              share === null ? null : t('ofRevenue', shareOf(share))
            }
          />
        }
        to="/operator/calls"
        search={{ loss: 'true' }}
      />
      <NotCharged rows={rows} />
    </>
  )
}

/** Upstream cost that nobody paid; shown only if there is any. */
function NotCharged({ rows }: TilesProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const uncharged = rows.filter((row) => row.uncharged_count > 0)
  const forgiven = rows.filter((row) => !isZero(row.written_off))
  return (
    <>
      {uncharged.length > 0 ? (
        <StatTile
          label={t('uncharged')}
          value={
            <Amounts
              rows={uncharged}
              amountOf={(row) => row.uncharged}
              noteOf={({ uncharged_count: count }) =>
                t('unchargedCount', { count: formatNumber(count, language) })
              }
            />
          }
          to="/operator/proof"
        />
      ) : null}
      {forgiven.length > 0 ? (
        <StatTile
          label={t('writtenOff')}
          value={<Amounts rows={forgiven} amountOf={(row) => row.written_off} />}
          to="/operator/accounts"
        />
      ) : null}
    </>
  )
}

/** Calls have no currency: those of all of them together. */
function Work({ rows }: TilesProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const sum = (countOf: (row: Currency) => number) =>
    rows.reduce((all, row) => all + countOf(row), 0)
  const calls = sum((row) => row.calls)
  const errors = sum((row) => row.errors)
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

function Balances({ rows }: TilesProps) {
  const t = useMessages(messages)
  return (
    <>
      <StatTile
        label={t('available')}
        value={<Amounts rows={rows} amountOf={({ available }) => available} />}
        to="/operator/accounts"
      />
      <StatTile
        label={t('held')}
        value={<Amounts rows={rows} amountOf={({ held }) => held} />}
        to="/operator/proof"
      />
      <StatTile
        label={t('debt')}
        value={<Amounts rows={rows} amountOf={({ debt }) => debt} />}
        to="/operator/accounts"
        search={{ in_debt: 'true' }}
      />
    </>
  )
}
