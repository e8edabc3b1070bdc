/** Schemas that many routes share: amounts, times, pages. */
import { type ZodType, z } from 'zod'

export const amount = z.string().describe('Decimal, in the account’s currency.')
export const time = z.iso.datetime()

const PAGE_DEFAULT = 50
const PAGE_MAX = 500

/** Refuses NUL, which the database cannot store. */
export const text = (max: number) =>
  z
    .string()
    .trim()
    .max(max)
    .refine((value) => !value.includes('\0'), 'must not contain NUL characters')

/** An amount as a decimal string. */
export const decimal = z.string().regex(/^\d{1,9}(\.\d{1,9})?$/, 'must be a decimal such as "12.5"')

/** The time zone in which days begin. */
export const timeZone = text(60)
  .refine(isTimeZone, 'must be a time zone such as Asia/Shanghai')
  .default('UTC')

function isTimeZone(name: string): boolean {
  // The database reads offsets such as +08:00 with the opposite sign.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** The query members that select one page of a list, newest first. */
export const paging = {
  limit: z.coerce.number().int().min(1).max(PAGE_MAX).default(PAGE_DEFAULT),
  cursor: text(200).min(1).optional().describe('next_cursor of the previous page.'),
}

/** The query members that select a span of time. */
export const span = {
  from: z.coerce.date().optional().describe('At or after this time.'),
  to: z.coerce.date().optional().describe('Before this time.'),
}

/** One page of a list; `next_cursor` is null on the last one. */
export const page = <Row extends ZodType>(row: Row) =>
  z.object({ data: z.array(row), next_cursor: z.string().nullable() })
