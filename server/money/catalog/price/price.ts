/**
 * Prices quantities. Pure and exact: bigint only, and each line is rounded up once, so that the
 * lines of a record add up to its charge.
 */
import { divideUp, formatAmount, type Nanos } from '../../../base/lib/money.ts'
import { type Quantities, type Unit, unitsOf } from '../../../base/lib/units.ts'
import type { Facts, PriceEntry } from '../catalog.ts'
import { ALWAYS, type ConditionJudge, judgeFinished, judgeUpcoming } from './conditions.ts'
import { arrange, type PriceList, type Rule } from './price-list.ts'

/** One line of a usage record. `unit_price` buys `per` units; amounts are decimal strings. */
export interface PriceLine {
  readonly unit: Unit
  readonly quantity: number
  readonly unit_price: string
  readonly per: number
  readonly amount: string
  /** The vendor's id of another model that did this part of the work, and its role. */
  readonly model?: string
  readonly role?: string
}

export interface Priced {
  readonly totalNanos: Nanos
  readonly lines: readonly PriceLine[]
}

export interface PricedCharge extends Priced {
  /** Units with a quantity but no applicable price: their lines are zero. */
  readonly unpriced: readonly Unit[]
}

/** A part of a call that another model did, priced by the entries that name that model. */
export interface PricedPass {
  readonly model: string
  readonly role: string
  readonly usage: Quantities
}

const NO_FACTS: Facts = {}
const ONE_CHANNEL: readonly Facts[] = [NO_FACTS]

/**
 * The unit whose price applies if a unit has none of its own. Audio and one-hour cache writes cost
 * a multiple of text and have no fallback.
 */
export const FALLBACK: Partial<Record<Unit, Unit>> = {
  cached_input_token: 'input_token',
  cache_write_token: 'input_token',
  cache_write_5m_token: 'cache_write_token',
  cached_audio_input_token: 'audio_input_token',
  image_input_token: 'input_token',
  cached_image_input_token: 'cached_input_token',
  video_input_token: 'input_token',
}

/** The units as which an upstream may report text input. */
const TEXT_INPUT_UNITS: readonly Unit[] = [
  'input_token',
  'cached_input_token',
  'cache_write_token',
  'cache_write_5m_token',
]

/** The units as which an upstream may report a quantity that was quoted in one unit. */
const MAY_BECOME: Partial<Record<Unit, readonly Unit[]>> = {
  input_token: TEXT_INPUT_UNITS,
  cache_write_1h_token: ['cache_write_1h_token', ...TEXT_INPUT_UNITS],
  audio_input_token: ['audio_input_token', 'cached_audio_input_token', ...TEXT_INPUT_UNITS],
  image_input_token: ['image_input_token', 'cached_image_input_token', ...TEXT_INPUT_UNITS],
  video_input_token: ['video_input_token', ...TEXT_INPUT_UNITS],
  audio_output_token: ['audio_output_token', 'output_token'],
  image_output_token: ['image_output_token', 'output_token'],
}

/**
 * Adds one `call` or `task` where the list prices them and they have no quantity yet: upstreams do
 * not report these units.
 */
export function countOnce(prices: readonly PriceEntry[], quantities: Quantities): Quantities {
  const { once } = arrange(prices)
  for (const _ in once) return { ...once, ...quantities }
  return quantities
}

/**
 * Prices quantities under known facts. The first entry of a unit whose conditions hold is its
 * price; strict-facts.ts defines when an entry must name a fact to apply. A unit without a price is
 * listed in `unpriced` and still has a line (unit price 0), so that a record shows everything the
 * upstream reported; a quantity of zero has no line.
 *
 * `channelFacts` come from the settings of the serving channel; `facts` take precedence. Each pass
 * is priced under `facts` with its own model, with tiers by its own token counts, and has separate
 * lines. If `vendor_cost` is reported and priced, it is the whole charge and all other lines are
 * zero.
 *
 * Throws RangeError for a quantity that is not a whole number from 0 to 2^53 - 1.
 */
export function priceCharge(
  prices: readonly PriceEntry[],
  quantities: Quantities,
  facts: Facts,
  channelFacts: Facts = NO_FACTS,
  passes: readonly PricedPass[] = [],
): PricedCharge {
  const list = arrange(prices)
  const sum: Sum = { totalNanos: 0n, lines: [], unpriced: [] }
  const served = { facts, channelFacts }
  const cost = vendorCostOf(list, quantities, served)
  addLines(sum, quantities, cost ?? judgeFinished(list, quantities, served), list)
  for (const { model, role, usage } of passes) {
    const other = { facts: { ...facts, model }, channelFacts }
    addLines(sum, usage, cost ? NEVER : judgeFinished(list, usage, other), list, { model, role })
  }
  return cost ? { ...sum, unpriced: [] } : sum
}

const NEVER: ConditionJudge = () => 'no'

/** Returns true if the cost that the vendor states is the whole charge under these facts. */
export function isChargedByCost(
  prices: readonly PriceEntry[],
  quantities: Quantities,
  facts: Facts,
  channelFacts: Facts = NO_FACTS,
): boolean {
  return vendorCostOf(arrange(prices), quantities, { facts, channelFacts }) !== undefined
}

/**
 * Returns a judge that admits only `vendor_cost`, or undefined if it is not reported or not priced.
 */
function vendorCostOf(
  list: PriceList,
  quantities: Quantities,
  served: { readonly facts: Facts; readonly channelFacts: Facts },
): ConditionJudge | undefined {
  if (quantities.vendor_cost === undefined || !list.rules.has('vendor_cost')) return undefined
  const judge = judgeFinished(list, quantities, served)
  if (!ruleFor(list, 'vendor_cost', judge)) return undefined
  return (rule) => (rule.entry.unit === 'vendor_cost' ? judge(rule) : 'no')
}

interface Sum {
  totalNanos: Nanos
  readonly lines: PriceLine[]
  readonly unpriced: Unit[]
}

function addLines(
  sum: Sum,
  quantities: Quantities,
  judge: ConditionJudge,
  list: PriceList,
  pass?: Pick<PriceLine, 'model' | 'role'>,
): void {
  for (const unit of unitsOf(quantities)) {
    const quantity = quantityOf(quantities, unit)
    if (quantity === 0n) continue
    const rule = ruleFor(list, unit, judge)
    // A cost that is not priced concerns the operator and is not a quantity of the call.
    if (!rule && unit === 'vendor_cost') continue
    if (!rule && !sum.unpriced.includes(unit)) sum.unpriced.push(unit)
    const amount = rule ? amountOf(rule.entry, quantity) : 0n
    sum.totalNanos += amount
    const line = lineOf(unit, quantity, rule, amount)
    sum.lines.push(pass ? { ...line, ...pass } : line)
  }
}

function lineOf(unit: Unit, quantity: bigint, rule: Rule | undefined, amount: Nanos): PriceLine {
  return {
    unit,
    quantity: Number(quantity),
    unit_price: rule?.unitPrice ?? '0',
    per: rule?.entry.per ?? 1,
    amount: formatAmount(amount),
  }
}

/**
 * Returns true if a price applies, or may apply, to a unit under these facts. A price of 0 counts;
 * an absent strict fact has its default value.
 */
export function isPriced(
  prices: readonly PriceEntry[],
  unit: Unit,
  facts: Facts = NO_FACTS,
  channelFacts: Facts = NO_FACTS,
): boolean {
  const list = arrange(prices)
  const judge = judgeUpcoming(list, ENDLESS, { facts, channelFacts })
  return rulesFor(list, unit, judge).length > 0
}

/** Token counts of unknown size: every tier may apply. */
const ENDLESS: Quantities = {
  input_token: Number.MAX_SAFE_INTEGER,
  output_token: Number.MAX_SAFE_INTEGER,
}

/**
 * Returns the greatest charge for up to these quantities, over all alternatives and channels (each
 * given by the facts of its settings). Of the entries that may become a unit's price it takes the
 * most expensive: an absent fact may still appear, except that an absent strict fact has its
 * default. Input tokens may be read from or written to a cache, so those prices count too; one-hour
 * cache writes count only if `cache_write_1h_token` is quoted, which covers the cheaper kinds, as
 * media units cover text. Throws RangeError as priceCharge does.
 */
export function priceUpperBound(
  prices: readonly PriceEntry[],
  quantities: Quantities,
  alternatives: readonly Facts[],
  channels: readonly Facts[] = ONE_CHANNEL,
): Nanos {
  const list = arrange(prices)
  let most = 0n
  for (const facts of alternatives) {
    for (const channelFacts of channels) {
      const judge = judgeUpcoming(list, quantities, { facts, channelFacts })
      const total = boundUnder(list, quantities, judge)
      if (total > most) most = total
    }
  }
  return most
}

function boundUnder(list: PriceList, quantities: Quantities, judge: ConditionJudge): Nanos {
  let total = 0n
  for (const unit of unitsOf(quantities)) {
    const quantity = quantityOf(quantities, unit)
    if (quantity > 0n) total += highestFor(list, unit, quantity, judge).amount
  }
  return total
}

/** Returns the same bound as `priceUpperBound` with its lines, for a dry run. */
export function explainUpperBound(
  prices: readonly PriceEntry[],
  quantities: Quantities,
  alternatives: readonly Facts[],
  channels: readonly Facts[] = ONE_CHANNEL,
): Priced {
  const list = arrange(prices)
  let highest: Priced | undefined
  for (const facts of alternatives) {
    for (const channelFacts of channels) {
      const judge = judgeUpcoming(list, quantities, { facts, channelFacts })
      const one = explainUnder(list, quantities, judge)
      if (!highest || one.totalNanos > highest.totalNanos) highest = one
    }
  }
  return highest ?? { totalNanos: 0n, lines: [] }
}

function explainUnder(list: PriceList, quantities: Quantities, judge: ConditionJudge): Priced {
  const lines: PriceLine[] = []
  let totalNanos = 0n
  for (const unit of unitsOf(quantities)) {
    const quantity = quantityOf(quantities, unit)
    if (quantity === 0n) continue
    const { rule, amount } = highestFor(list, unit, quantity, judge)
    totalNanos += amount
    if (rule) lines.push(lineOf(unit, quantity, rule, amount))
  }
  return { totalNanos, lines }
}

interface HighestAmount {
  readonly rule: Rule | undefined
  readonly amount: Nanos
}

function highestFor(
  list: PriceList,
  unit: Unit,
  quantity: bigint,
  judge: ConditionJudge,
): HighestAmount {
  const units = MAY_BECOME[unit] ?? [unit]
  let highest: HighestAmount = { rule: undefined, amount: 0n }
  for (const possible of units) {
    for (const rule of rulesFor(list, possible, judge)) {
      const amount = boundOf(rule.entry, quantity, units.length)
      if (!highest.rule || amount > highest.amount) highest = { rule, amount }
    }
  }
  return highest
}

/** Returns the rules that may be the price of a unit, up to the first that certainly applies. */
function rulesFor(list: PriceList, unit: Unit, judge: ConditionJudge): readonly Rule[] {
  if (judge !== ALWAYS) return selectRules(list, unit, judge)
  let certain = list.certain.get(unit)
  if (!certain) {
    certain = selectRules(list, unit, judge)
    list.certain.set(unit, certain)
  }
  return certain
}

function selectRules(list: PriceList, unit: Unit, judge: ConditionJudge): readonly Rule[] {
  const possible: Rule[] = []
  for (let of: Unit | undefined = unit; of; of = FALLBACK[of]) {
    for (const rule of list.rules.get(of) ?? []) {
      const verdict = judge(rule)
      if (verdict !== 'no') possible.push(rule)
      if (verdict === 'yes') return possible
    }
  }
  return possible
}

/** Returns the price of a unit once every condition is decided. */
function ruleFor(list: PriceList, unit: Unit, judge: ConditionJudge): Rule | undefined {
  for (let of: Unit | undefined = unit; of; of = FALLBACK[of]) {
    for (const rule of list.rules.get(of) ?? []) {
      if (judge(rule) === 'yes') return rule
    }
  }
  return undefined
}

function amountOf(entry: PriceEntry, quantity: bigint): Nanos {
  return divideUp(quantity * entry.amountNanos, BigInt(entry.per))
}

/**
 * Returns the amount, plus one rounding for each further line over which the quantity may be split.
 */
function boundOf(entry: PriceEntry, quantity: bigint, lineCount: number): Nanos {
  const amount = amountOf(entry, quantity)
  const exact = entry.amountNanos % BigInt(entry.per) === 0n
  return exact ? amount : amount + BigInt(lineCount - 1)
}

function quantityOf(quantities: Quantities, unit: Unit): bigint {
  const quantity = quantities[unit]
  // Most units are absent from a call.
  if (quantity === undefined || quantity === 0) return 0n
  if (!Number.isSafeInteger(quantity) || quantity < 0) {
    throw new RangeError(`${unit}: ${quantity} is not a whole number from 0 to 2^53 - 1`)
  }
  return BigInt(quantity)
}
