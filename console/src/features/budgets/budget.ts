/** A budget as the API returns it, and how much of it is used. */
import type { Tone } from '../../components/state/status-badge.tsx'
import { formatMoney, formatNumber, isZero, SUM_PLACES, sumPlaces } from '../../lib/format.ts'
import type { Language } from '../../lib/language.ts'
import type { RowOf } from '../../lib/use-admin.ts'

export const LIST = 'GET /accounts/:account_id/budgets'

export type AccountBudget = RowOf<typeof LIST>

/** True for the spend limit of a key, which is set at the key. */
export const isSpendLimit = ({ id }: AccountBudget) => id.startsWith('key_')

interface Shares {
  /** Hundredths of the budget, together at most 100. */
  readonly spent: number
  readonly held: number
}

const FULL = 100
const NEARLY = 80

export function sharesOf(used: {
  readonly amount: string
  readonly spent: string
  readonly held: string
}): Shares {
  const [amount, spent, held] = [Number(used.amount), Number(used.spent), Number(used.held)]
  // A budget of nothing is used up from the start.
  if (!(amount > 0)) return { spent: FULL, held: 0 }
  const spentShare = Math.min(FULL, (spent / amount) * FULL)
  return { spent: spentShare, held: Math.min(FULL - spentShare, (held / amount) * FULL) }
}

/** Returns how much of it is used, in a word. For each end user: what the first of them uses. */
export function stateOf(budget: AccountBudget): 'free' | 'nearly' | 'full' {
  const used = budget.end_users ? budget.end_users[0] : budget
  if (!used) return Number(budget.amount) > 0 ? 'free' : 'full'
  const { spent, held } = sharesOf({ ...used, amount: budget.amount })
  if (spent + held >= FULL) return 'full'
  return spent + held >= NEARLY ? 'nearly' : 'free'
}

export function toneOf(budget: AccountBudget): Tone {
  const state = stateOf(budget)
  if (state === 'free') return 'good'
  return state === 'full' && budget.action === 'refuse' ? 'bad' : 'warning'
}

/** Returns the places of a sum, which is short where it is nothing. */
export const placesIn = (sum: string) => (isZero(sum) ? SUM_PLACES : sumPlaces(sum))

/** Words a quantity in the budget's unit: an amount of money, or a count. */
export function wordQuantity(
  { unit, currency }: Pick<AccountBudget, 'unit' | 'currency'>,
  quantity: string,
  language: Language,
): string {
  if (unit !== 'money') return formatNumber(Number(quantity), language)
  return formatMoney(quantity, { currency, language, places: placesIn(quantity) })
}
