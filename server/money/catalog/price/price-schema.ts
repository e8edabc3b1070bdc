/** The parts of a catalog file that its entries share: names, amounts and prices. */
import { z } from 'zod'
import { CURRENCY_PROBLEM, isCurrency } from '../../../base/lib/currencies.ts'
import { formatAmount, parseAmount } from '../../../base/lib/money.ts'
import { isPricedByMany, UNITS } from '../../../base/lib/units.ts'

export const name = (pattern: RegExp, what: string) => z.string().regex(pattern, what)
export const channelId = name(
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
  'must be 1 to 64 letters, digits, ".", "_" or "-"',
)
export const modelId = name(
  /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}$/,
  'must be 1 to 128 letters, digits or any of . _ : / @ + -',
)
export const currency = z.string().refine(isCurrency, CURRENCY_PROBLEM)
/** The file that owns an entry; entries that the console changed have one each. */
export const entrySource = name(
  /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}$/,
  'must be 1 to 200 letters, digits or any of . _ : / @ + -',
)
export const atLeastOne = z.int().min(1)

const amount = z
  .string('must be a decimal string, for example "0.15"')
  .refine((text) => (parseAmount(text) ?? -1n) >= 0n, {
    error: 'must be a decimal of at most 9 digits before and after the point, for example "0.15"',
  })
  .transform((text) => formatAmount(parseAmount(text) ?? 0n))

const range = z
  .strictObject({ min: z.number().optional(), below: z.number().optional() })
  .refine(({ min, below }) => min !== undefined || below !== undefined, {
    error: 'needs "min", "below" or both',
  })
  .refine(({ min, below }) => min === undefined || below === undefined || min < below, {
    error: '"min" must be less than "below"',
  })

const plain = z.union([z.string(), z.number(), z.boolean()])

const when = z
  .record(
    name(/^[a-z][a-z0-9_]{0,39}$/, 'must be the name of a fact, such as "resolution"'),
    z.union([plain, z.array(plain).min(1).max(20), range], {
      error: 'must be a string, a number, true, false, a list of them or {"min", "below"}',
    }),
  )
  .refine((conditions) => Object.keys(conditions).length > 0, {
    error: 'needs a condition: omit "when" for a price that always applies',
  })

/** A token's price without a `per` would be a million times what its writer read at the vendor. */
export const price = z
  .strictObject({ unit: z.enum(UNITS), per: atLeastOne.optional(), amount, when: when.optional() })
  .transform(({ unit, per, ...rest }, { issues, value }) => {
    if (per === undefined && isPricedByMany(unit)) {
      const usual = unit === 'vendor_cost' ? 1_000_000_000 : 1_000_000
      const message =
        `is missing: write "per": ${usual} if the amount buys ${usual.toLocaleString('en')} ` +
        `of ${unit}, as most vendors say it, or "per": 1 if it buys one`
      issues.push({ code: 'custom', path: ['per'], message, input: value })
    }
    return { unit, per: per ?? 1, ...rest }
  })

export const prices = z.array(price).max(200)
