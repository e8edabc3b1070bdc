/** The parts of a usage record in words: the basis, the arithmetic of the charge, the attempts. */
import { z } from 'zod'
import { formatAmount } from '../../server/base/lib/money.ts'
import type { UsageSummary } from '../../server/money/usage/store.ts'
import { describePrice } from './price-words.ts'
import { printTable } from './print.ts'

const BASES: Readonly<Record<string, string>> = {
  usage: 'usage stated by the upstream',
  estimate: 'estimated: the upstream stated no usage',
  partial: 'output delivered before the upstream broke off',
  params: 'taken from the request and its result',
  checkpoint: 'counted before the gateway process died',
  none: 'nothing is owed',
}

/** Returns `usage: usage stated by the upstream`, with a note on a charge for review. */
export function describeBasis({ basis, review }: UsageSummary): string | null {
  if (basis === null) return null
  const words = BASES[basis] ? `${basis}: ${BASES[basis]}` : basis
  return review ? `${words}; for review: the charge differs from the stated usage` : words
}

const storedLine = z.object({
  unit: z.string(),
  quantity: z.number(),
  unit_price: z.string(),
  per: z.number(),
  amount: z.string(),
})

/** Prints quantity × price = amount for each line of the charge, and their sum. */
export function printLines({ lines, charged, currency }: UsageSummary): void {
  const rows = readEach(storedLine, lines)
  if (rows.length === 0) return
  console.log()
  printTable(
    [
      ...rows.map(({ unit, quantity, unit_price: amount, per, amount: sum }) => ({
        quantity: quantity.toLocaleString('en', { maximumFractionDigits: 9 }),
        unit: unit.replaceAll('_', ' '),
        price: `× ${describePrice({ unit, per, amount }, currency)}`,
        sum,
      })),
      { quantity: '', unit: 'charged', price: '', sum: formatAmount(charged) },
    ],
    [
      { title: 'quantity', cell: ({ quantity }) => quantity, right: true },
      { title: 'unit', cell: ({ unit }) => unit },
      { title: 'price', cell: ({ price }) => price },
      { title: currency, cell: ({ sum }) => sum, right: true },
    ],
    '',
  )
}

const storedAttempt = z.object({
  channel: z.string(),
  outcome: z.string(),
  status: z.number().optional(),
  milliseconds: z.number().optional(),
  reason: z.string().optional(),
})

/** Prints the attempts of a call in their order. */
export function printAttempts({ attempts }: UsageSummary): void {
  const rows = readEach(storedAttempt, attempts)
  if (rows.length === 0) return
  console.log()
  printTable(
    rows,
    [
      { title: 'channel', cell: ({ channel }) => channel },
      { title: 'outcome', cell: ({ outcome }) => outcome },
      { title: 'http', cell: ({ status = '' }) => status, right: true },
      { title: 'ms', cell: ({ milliseconds = '' }) => milliseconds, right: true },
      { title: 'reason', cell: ({ reason = '' }) => reason.replace(/\s+/g, ' ') },
    ],
    '',
  )
}

/** Skips stored items of another form. */
function readEach<Item extends z.ZodType>(item: Item, stored: unknown): z.output<Item>[] {
  if (!Array.isArray(stored)) return []
  return stored.flatMap((one) => {
    const read = item.safeParse(one)
    return read.success ? [read.data] : []
  })
}
