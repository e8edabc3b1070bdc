/** Schemas that many routes share: amounts, times, pages. */
import { z } from 'zod'
import { AMOUNT_PROBLEM, formatAmount, parseAmount } from '../../base/lib/money.ts'
import { NETWORK_PROBLEM, NETWORKS_MAX, readNetwork } from '../../base/lib/networks.ts'
import { readTimeZone } from '../../base/lib/text/time-zone.ts'
import { decimalAmount, givenTime } from '../endpoints/codecs.ts'

export { count, givenTime, page, serial, time } from '../endpoints/codecs.ts'
export const amount = decimalAmount.describe('Decimal, in the account’s currency.')

const PAGE_DEFAULT = 50
const PAGE_MAX = 500

/** Refuses NUL, which the database cannot store. */
export const text = (max: number) =>
  z
    .string()
    .trim()
    .max(max)
    .refine((value) => !value.includes('\0'), 'must not contain NUL characters')

/** An amount in a request: a decimal, converted to nano-units. */
export const decimal = z.codec(
  z.string().regex(/^\d{1,9}(\.\d{1,9})?$/, AMOUNT_PROBLEM),
  z.bigint(),
  { decode: (sent) => parseAmount(sent) ?? 0n, encode: formatAmount },
)

const NETWORK_LENGTH_MAX = 64

/** Networks in a request; an empty list means every address. */
export const networks = z
  .array(
    text(NETWORK_LENGTH_MAX).refine((value) => readNetwork(value) !== undefined, NETWORK_PROBLEM),
  )
  .max(NETWORKS_MAX)

/** The time zone in which days begin, by the name that the database knows. */
export const timeZone = text(60)
  .transform((name, context) => {
    const zone = readTimeZone(name)
    if (zone === undefined) context.addIssue('must be a time zone such as Asia/Shanghai')
    return zone ?? z.NEVER
  })
  .default('UTC')

/** The query members that select one page of a list, newest first. */
export const paging = {
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).default(PAGE_DEFAULT),
  cursor: text(200).min(1).optional().describe('next_cursor of the previous page.'),
}

/** The query members that select a span of time. */
export const span = {
  from: givenTime.optional().describe('At or after this time.'),
  to: givenTime.optional().describe('Before this time.'),
}
