/** The members of a budget, in the list and beside it. */
import { Stack, Text } from '@mantine/core'
import type { RowFields, Wording } from '../../components/list/fields.tsx'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { formatNumber, formatTimeIn, weekdayName } from '../../lib/format.ts'
import { type AccountBudget, isSpendLimit, placesIn, stateOf, toneOf } from './budget.ts'
import type { messages } from './messages.ts'
import { UsageBar } from './usage-bar.tsx'

type Words = (typeof messages)['en']
type Showing = Wording<Words> & { readonly isFact: boolean }
type Quantity = 'amount' | 'spent' | 'held' | 'remaining'

export const BUDGET_FIELDS: RowFields<AccountBudget, Words> = [
  { word: 'who', in: 'list', place: 0, show: (budget, { t }) => <Who budget={budget} t={t} /> },
  { key: 'id', as: 'copy', in: 'details' },
  { word: 'who', in: 'details', show: (budget, { t }) => budgetName(budget, t) },
  {
    word: 'used',
    in: 'list',
    place: 2,
    wide: true,
    show: (budget) => <UsageBar budget={budget} />,
  },
  {
    word: 'limit',
    align: 'right',
    place: 3,
    show: (budget, showing) => (
      <>
        {showQuantity('amount')(budget, showing)}
        <Text size="xs" c="dimmed" component="span" display="block">
          {showing.t(`per_${budget.period}`)}
        </Text>
      </>
    ),
  },
  { word: 'spent', in: 'details', show: showQuantity('spent') },
  { word: 'held', in: 'details', show: showQuantity('held') },
  { word: 'left', align: 'right', place: 4, show: showQuantity('remaining') },
  {
    word: 'state',
    place: 1,
    isPlain: true,
    wide: true,
    show: (budget, { t }) => (
      <StatusBadge tone={toneOf(budget)} label={t(`state_${stateOf(budget)}`)} />
    ),
  },
  { word: 'unit', in: 'details', show: ({ unit }, { t }) => t(`unit_${unit}`) },
  {
    word: 'models',
    in: 'details',
    show: ({ models }, { t }) => models?.join(', ') ?? t('everyModel'),
  },
  {
    word: 'resets',
    isBroad: true,
    place: 5,
    show: ({ resets_at: at, time_zone: zone }, { t, language }) =>
      at === null ? t('never') : formatTimeIn(at, zone, language),
  },
  {
    word: 'since',
    in: 'details',
    show: ({ window_start: at, time_zone: zone }, { language }) => formatTimeIn(at, zone, language),
  },
  { key: 'time_zone', word: 'zone', in: 'details' },
  {
    word: 'weekStart',
    in: 'details',
    show: ({ period, week_start: day }, { language }) =>
      period === 'week' ? weekdayName(day, language) : undefined,
  },
  { word: 'beyond', minor: true, place: 6, show: ({ action }, { t }) => t(action) },
  {
    word: 'thresholds',
    in: 'details',
    show: ({ thresholds }, { t }) => thresholds.map((one) => `${one}%`).join(', ') || t('none'),
  },
  {
    word: 'setBy',
    in: 'details',
    show: (budget, { t }) => (isSpendLimit(budget) ? undefined : t(budget.set_by)),
  },
  { key: 'created_at', word: 'created', as: 'time', in: 'details' },
]

/** Money in fixed places in a list and in full as a fact; a count as it is. */
function showQuantity(name: Quantity) {
  return (budget: AccountBudget, { isFact, language }: Showing) => {
    const quantity = budget[name]
    if (quantity === null) return isFact ? undefined : '–'
    if (budget.unit !== 'money') return formatNumber(Number(quantity), language)
    const places = isFact ? 'exact' : placesIn(quantity)
    return <MoneyText amount={quantity} currency={budget.currency} places={places} />
  }
}

export function budgetName(budget: AccountBudget, t: Wording<Words>['t']): string {
  const { scope, subject, subject_name: named } = budget
  const name = named || subject || ''
  if (scope === 'key') return t('who_key', { name })
  if (scope === 'member') return t('who_member', { name })
  if (scope === 'tag') return t('who_tag', { name })
  return t(`scope_${scope}`)
}

interface WhoProps {
  readonly budget: AccountBudget
  readonly t: Wording<Words>['t']
}

function Who({ budget, t }: WhoProps) {
  const { models, unit } = budget
  const further = [
    isSpendLimit(budget) ? t('spendLimit') : undefined,
    unit === 'money' ? undefined : t(`unit_${unit}`),
    models?.join(', '),
  ].filter((text) => text !== undefined)
  return (
    <Stack gap={0} maw={320}>
      <Text inherit fw={500} component="span" style={{ overflowWrap: 'anywhere' }}>
        {budgetName(budget, t)}
      </Text>
      {further.length > 0 ? (
        <Text size="xs" c="dimmed" component="span" lineClamp={2}>
          {further.join(' · ')}
        </Text>
      ) : null}
    </Stack>
  )
}
