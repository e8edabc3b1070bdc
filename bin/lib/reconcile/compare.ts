/** Compares a vendor's export with the usage records, per day and model. */
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import { INPUT_UNITS } from '../../../server/base/lib/units.ts'
import type { DayRow, UnitRow } from '../../../server/money/usage/reconcile-store.ts'
import type { InvoiceRow } from '../invoices/invoice.ts'
import { matchModels } from './match-models.ts'

export interface Side {
  /** Nano-units. */
  amount: bigint
  requests: number
  readonly units: Record<string, number>
}

export interface BillComparison {
  readonly day: string
  /** `*` for all models, if the export does not distinguish them. */
  readonly model: string
  /** The upstream models of the records; null for all. */
  readonly ourModels: readonly string[] | null
  readonly vendor: Side
  readonly ours: Side
  /** The vendor's figure minus the records': nano-units, or tokens in an export without amounts. */
  readonly difference: bigint
  readonly within: boolean
}

export interface Tolerance {
  readonly nanos: bigint
  /** The share of the vendor's figure. */
  readonly share: number
}

export interface VendorBill {
  readonly rows: ReadonlyMap<string, Side & { readonly day: string; readonly model: string | null }>
  readonly hasAmounts: boolean
  readonly currency: string | undefined
  readonly from: string
  /** The day after the last one. */
  readonly to: string
}

const ALL_MODELS = '*'
const NO_MODEL = '(no model)'
const OUTPUT = /(?:^|_)output_token$/

/** Sums up an export; memory grows only with its days and models. Throws OperatorError. */
export async function addUpBill(
  rows: AsyncIterable<InvoiceRow>,
  range: { readonly from?: string | undefined; readonly to?: string | undefined },
): Promise<VendorBill> {
  const sums = new Map<string, Side & { readonly day: string; readonly model: string | null }>()
  const currencies = new Set<string>()
  const days = new Set<string>()
  let hasAmounts = false
  for await (const row of rows) {
    if ((range.from && row.day < range.from) || (range.to && row.day >= range.to)) continue
    const key = `${row.day} ${row.model ?? ''}`
    const sum = sums.get(key) ?? { ...emptySide(), day: row.day, model: row.model }
    sums.set(key, sum)
    days.add(row.day)
    hasAmounts ||= row.amount !== undefined
    if (row.currency !== undefined && row.amount !== 0n) currencies.add(row.currency)
    sum.amount += row.amount ?? 0n
    sum.requests += row.requests ?? 0
    addUnits(sum, row.units ?? {})
  }
  const [currency, other] = currencies
  if (other !== undefined)
    throw new OperatorError(`the export has ${currency} and ${other}: split it`)
  const sorted = [...days].sort()
  const from = range.from ?? sorted[0]
  const to = range.to ?? nextDay(sorted.at(-1))
  if (!from || !to) throw new OperatorError('the export has no row in this range')
  if (from >= to) throw new OperatorError(`the range from ${from} to before ${to} has no day`)
  return { rows: sums, hasAmounts, currency, from, to }
}

/** Throws OperatorError if the two are in different currencies. */
export function compare(
  vendors: VendorBill,
  records: { readonly days: readonly DayRow[]; readonly units: readonly UnitRow[] },
  options: { readonly models: Readonly<Record<string, string>>; readonly tolerance: Tolerance },
): BillComparison[] {
  refuseOtherCurrency(vendors, records.days)
  const rows = [...vendors.rows.values()]
  const named = new Set(rows.flatMap(({ model }) => model ?? []))
  const isByModel = named.size > 0
  const ours = new Set(records.days.map(({ model }) => model))
  const names = matchModels(ours, named, options.models)
  const table = createTable()
  for (const row of rows) {
    const name = row.model === null ? NO_MODEL : names.ofVendor(row.model)
    addSide(table.at(row.day, isByModel ? name : ALL_MODELS).vendor, row)
  }
  for (const row of records.days) {
    const pair = table.at(row.day, isByModel ? names.ofOurs(row.model) : ALL_MODELS)
    pair.models.add(row.model)
    pair.ours.amount += row.upstream_cost
    pair.ours.requests += Number(row.calls)
  }
  for (const { day, model, unit, quantity } of records.units) {
    const pair = table.at(day, isByModel ? names.ofOurs(model) : ALL_MODELS)
    addUnits(pair.ours, { [unit]: Number(quantity) })
  }
  return table.pairs().map(({ day, model, vendor, ours: own, models }) => {
    const ourModels = isByModel ? [...models] : null
    const sides = { day, model, ourModels, vendor, ours: own }
    return { ...sides, ...judge(vendor, own, vendors.hasAmounts, options.tolerance) }
  })
}

function judge(vendor: Side, ours: Side, hasAmounts: boolean, { nanos, share }: Tolerance) {
  if (hasAmounts) {
    const difference = vendor.amount - ours.amount
    const allowed = Math.max(Number(nanos), Math.abs(Number(vendor.amount)) * share)
    return { difference, within: Math.abs(Number(difference)) <= allowed }
  }
  const sums = [countInputTokens, countOutput].map((count) => [count(vendor), count(ours)] as const)
  const difference = sums.reduce((sum, [theirs, own]) => sum + theirs - own, 0)
  const within = sums.every(([theirs, own]) => Math.abs(theirs - own) <= theirs * share)
  return { difference: BigInt(Math.round(difference)), within }
}

export function countInputTokens({ units }: Side): number {
  return INPUT_UNITS.reduce((sum, unit) => sum + (units[unit] ?? 0), 0)
}

export function countOutput({ units }: Side): number {
  const output = Object.entries(units).filter(([unit]) => OUTPUT.test(unit))
  return output.reduce((sum, [, quantity]) => sum + quantity, 0)
}

function refuseOtherCurrency({ currency, hasAmounts }: VendorBill, days: readonly DayRow[]): void {
  if (!hasAmounts || currency === undefined) return
  const other = days.find((row) => row.currency !== currency && row.upstream_cost > 0n)
  if (!other) return
  throw new OperatorError(
    `the export is in ${currency}, but costs of ${other.model} are booked in ${other.currency}: ` +
      'their sums cannot be compared',
  )
}

function createTable() {
  const pairs = new Map<
    string,
    { day: string; model: string; vendor: Side; ours: Side; models: Set<string> }
  >()
  return {
    at(day: string, model: string) {
      const key = `${day} ${model}`
      const fresh = {
        day,
        model,
        vendor: emptySide(),
        ours: emptySide(),
        models: new Set<string>(),
      }
      const pair = pairs.get(key) ?? fresh
      pairs.set(key, pair)
      return pair
    },
    pairs: () => [...pairs.keys()].sort().flatMap((key) => pairs.get(key) ?? []),
  }
}

function emptySide(): Side {
  return { amount: 0n, requests: 0, units: {} }
}

function addSide(sum: Side, more: Side): void {
  sum.amount += more.amount
  sum.requests += more.requests
  addUnits(sum, more.units)
}

function addUnits(sum: Side, units: Readonly<Record<string, number>>): void {
  for (const [unit, quantity] of Object.entries(units)) {
    sum.units[unit] = (sum.units[unit] ?? 0) + quantity
  }
}

function nextDay(day: string | undefined): string | undefined {
  if (day === undefined) return undefined
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10)
}
