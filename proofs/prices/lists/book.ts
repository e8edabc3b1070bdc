/**
 * The book of price lists: what a customer pays for a model at a moment, worked out from the lists
 * as they were written. It shares no code with the gateway, which works with versions.
 */
import type { Rates } from '../rates.ts'
import { type Sheet, sheetOf } from '../sheet.ts'

export interface Rule {
  readonly of: 'parent' | 'cost'
  readonly factor: string
}

/** Own prices, a rule that makes them, or that the model is not for sale. */
export type Entry = Sheet | Rule | 'hidden'

export interface Plan {
  readonly fromMs: number
  readonly untilMs: number
  readonly default?: Rule
  readonly entries: Readonly<Record<string, Entry>>
}

export interface List {
  readonly id: string
  readonly default?: Rule | 'hidden'
  readonly entries: Readonly<Record<string, Entry>>
  readonly plan?: Plan
}

/** The sheet that a customer pays by, and its list; no sheet for a hidden model. */
export interface Price {
  readonly list: string
  readonly sheet?: Sheet
  /** The kind of entry that decides, for the tally. */
  readonly by: string
}

/** Equal for the same prices from the same list. */
export function nameOf({ list, sheet }: Price): string {
  return JSON.stringify([list, sheet])
}

/** `lists`: those of the customer, the one that decides first. */
export function priceOf(lists: readonly List[], model: string, atMs: number): Price {
  const [list, ...below] = lists
  if (!list) return { list: 'base', sheet: sheetOf(model), by: 'base prices' }
  const found = entryOf(list, model, atMs)
  if (found === undefined) return priceOf(below, model, atMs)
  const { entry } = found
  const own = { list: list.id, by: found.isPlanned ? planned(kindOf(entry)) : kindOf(entry) }
  if (entry === 'hidden') return own
  if ('cards' in entry) return { ...own, sheet: entry }
  if (entry.of === 'cost') return { ...own, sheet: times(costOf(model), entry.factor) }
  const parent = priceOf(below, model, atMs)
  if (!parent.sheet) return parent
  const by = parent.list === 'base' ? own.by : `${own.by} of a list`
  const isPlanned = found.isPlanned || isOfPlan(parent)
  return { ...own, by: isPlanned ? planned(by) : by, sheet: times(parent.sheet, entry.factor) }
}

/** Returns true for a price that a plan decides, of its own list or of a parent. */
export function isOfPlan({ by }: Price): boolean {
  return by.startsWith(PLANNED)
}

const PLANNED = 'planned '

function planned(by: string): string {
  return by.startsWith(PLANNED) ? by : `${PLANNED}${by}`
}

function kindOf(entry: Entry): string {
  if (entry === 'hidden') return 'hidden'
  return 'cards' in entry ? 'prices' : `factor of ${entry.of}`
}

function entryOf(list: List, model: string, atMs: number) {
  const { plan } = list
  const isRunning = plan !== undefined && plan.fromMs <= atMs && atMs < plan.untilMs
  const planned = isRunning ? plan.entries[model] : undefined
  const named = planned ?? list.entries[model]
  if (named !== undefined) return { entry: named, isPlanned: planned !== undefined }
  const other = isRunning ? plan.default : undefined
  const entry: Entry | undefined = other ?? list.default
  return entry === undefined ? undefined : { entry, isPlanned: other !== undefined }
}

/** Multiplies each amount, rounded up to nine digits. */
export function times(sheet: Sheet, factor: string): Sheet {
  return mapRates(sheet, (_, amount) => multiply(amount, factor))
}

/** Models whose expensive route leads to a paused channel, which still counts. */
const WITH_PAUSED_ROUTE = new Set(['pp-plain', 'pp-mini', 'pp-reason'])

/** The costs of the route that serves a model, and of the one that does not. */
const USUAL_COSTS = { input_token: '0.7', output_token: '0.45' } as const
const DEAR_COSTS = { input_token: '0.65', output_token: '0.8' } as const

export interface RouteCosts {
  readonly usual: Sheet
  readonly paused?: Sheet
}

/** Returns undefined for a model whose costs the vendor states afterwards. */
export function routeCosts(sheet: Sheet): RouteCosts | undefined {
  if (sheet.fees?.vendor_cost) return undefined
  const usual = withShares(sheet, USUAL_COSTS)
  return WITH_PAUSED_ROUTE.has(sheet.id)
    ? { usual, paused: withShares(sheet, DEAR_COSTS) }
    : { usual }
}

function withShares(sheet: Sheet, shares: Readonly<Record<string, string>>): Sheet {
  return mapRates(sheet, (unit, amount) => multiply(amount, shares[unit] ?? '0.5'))
}

/** The highest cost of each unit, whichever route serves the call. */
function costOf(model: string): Sheet {
  const sheet = sheetOf(model)
  const costs = routeCosts(sheet)
  if (!costs) throw new Error(`${model} has no costs`)
  if (!costs.paused) return costs.usual
  return withShares(sheet, { input_token: '0.7', output_token: '0.8' })
}

function mapRates(sheet: Sheet, change: (unit: string, amount: string) => string): Sheet {
  const mapped = (rates: Rates): Rates =>
    Object.fromEntries(
      Object.entries(rates).map(([unit, [amount, per]]) => [unit, [change(unit, amount), per]]),
    )
  const { cards, fees, others, clock } = sheet
  return {
    ...sheet,
    cards: cards.map((card) => ({ ...card, rates: mapped(card.rates) })),
    ...(fees ? { fees: mapped(fees) } : {}),
    ...(others
      ? {
          others: Object.fromEntries(
            Object.entries(others).map(([name, rates]) => [name, mapped(rates)]),
          ),
        }
      : {}),
    ...(clock ? { clock: { ...clock, otherwise: mapped(clock.otherwise) } } : {}),
  }
}

const DIGITS = 9

function multiply(amount: string, factor: string): string {
  const [a, b] = [fractionOf(amount), fractionOf(factor)]
  const places = a.places + b.places
  const product = a.digits * b.digits
  const scale = 10n ** BigInt(Math.max(places - DIGITS, 0))
  const rounded = (product + scale - 1n) / scale
  const text = rounded.toString().padStart(DIGITS + 1, '0')
  const kept = Math.min(places, DIGITS)
  const whole = text.slice(0, text.length - kept)
  return kept === 0 ? whole : `${whole}.${text.slice(-kept)}`
}

function fractionOf(text: string): { readonly digits: bigint; readonly places: number } {
  const [whole = '0', fraction = ''] = text.split('.')
  return { digits: BigInt(whole + fraction), places: fraction.length }
}
