/** The spending caps of a channel, which any upstream's settings may have. */
import { ZodObject, z } from 'zod'
import { type Nanos, parseAmount } from '../../base/lib/money.ts'
import type { Upstream } from './upstream.ts'

const CAP = /^(\S+) ([A-Z]{3})$/

/** An amount with its currency, such as `50 USD`. */
const cap = () =>
  z
    .string()
    .refine((text) => parseCap(text) !== undefined, 'an amount and its currency, such as "50 USD"')

const capSettings = {
  /** Maximum spending of the channel's calls of one day (UTC), such as `50 USD`. */
  spending_cap_per_day: cap().optional(),
  /** The same for a calendar month. */
  spending_cap_per_month: cap().optional(),
}

export interface SpendingCap {
  readonly period: 'day' | 'month'
  readonly capNanos: Nanos
  readonly currency: string
}

/** Returns the upstream with the caps among its settings. */
export function withSpendingCap(upstream: Upstream): Upstream {
  const { settings } = upstream
  if (!(settings instanceof ZodObject)) throw new Error(`${upstream.name}: not an object`)
  return { ...upstream, settings: settings.safeExtend(capSettings) }
}

/** Returns the caps of a channel's parsed settings; most channels have none. */
export function readSpendingCaps(settings: unknown): readonly SpendingCap[] {
  const { spending_cap_per_day: day, spending_cap_per_month: month } = (settings ?? {}) as Caps
  return [...readCap('day', day), ...readCap('month', month)]
}

type Caps = Readonly<Record<keyof typeof capSettings, string | undefined>>

function readCap(period: SpendingCap['period'], text: string | undefined): SpendingCap[] {
  const parsed = text === undefined ? undefined : parseCap(text)
  return parsed ? [{ period, ...parsed }] : []
}

function parseCap(text: string): Omit<SpendingCap, 'period'> | undefined {
  const [, amount = '', currency = ''] = CAP.exec(text) ?? []
  const capNanos = parseAmount(amount)
  return capNanos !== undefined && capNanos > 0n ? { capNanos, currency } : undefined
}
