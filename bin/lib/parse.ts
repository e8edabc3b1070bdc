/** Parsers of command line options; each error says which values are accepted. */
import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import {
  MEMBER_ROLES,
  type MemberRole,
  readMemberRole,
} from '../../server/base/lib/member-roles.ts'
import { type Nanos, parseAmount } from '../../server/base/lib/money.ts'
import { readNetworks } from '../../server/base/lib/networks.ts'

/** Parses a decimal such as 12.5 or -3; at most nine digits on either side of the point. */
export function parseAmountOption(text: string): Nanos {
  const nanos = parseAmount(text)
  if (nanos === undefined) {
    throw new InvalidArgumentError(
      /^-?\d+(\.\d+)?$/.test(text)
        ? 'It has at most nine digits on either side of the point.'
        : 'Write a decimal such as 12.5.',
    )
  }
  return nanos
}

export function positiveAmount(text: string): Nanos {
  const nanos = parseAmountOption(text)
  if (nanos < 0n) throw new InvalidArgumentError('It cannot be negative.')
  return nanos
}

export function whole(text: string): number {
  const number = Number(text)
  if (!/^\d{1,9}$/.test(text) || number < 1) {
    throw new InvalidArgumentError('Write a whole number from 1.')
  }
  return number
}

export function port(text: string): number {
  const number = Number(text)
  if (!/^\d{1,5}$/.test(text) || number > 65_535) {
    throw new InvalidArgumentError('Write a port from 0 to 65535.')
  }
  return number
}

export function parseLanguageOption(text: string): 'en' | 'zh' {
  if (text === 'en' || text === 'zh') return text
  throw new InvalidArgumentError('Write en or zh.')
}

export function parseRoleOption(text: string): MemberRole {
  const role = readMemberRole(text)
  if (role) return role
  throw new InvalidArgumentError(`Write ${MEMBER_ROLES.join(', ')}.`)
}

export function tokenScope(text: string): 'read' | 'write' {
  if (text === 'read' || text === 'write') return text
  throw new InvalidArgumentError('Write read or write.')
}

/** The option value that removes a limit. Not null, which commander treats as an error. */
export type None = 'none'

/** Returns a parser that also accepts `none`. */
export function orNone<T>(parse: (text: string) => T): (text: string) => T | None {
  return (text) => (text === 'none' ? 'none' : parse(text))
}

export function noneToNull<T>(value: T | None): T | null {
  return value === 'none' ? null : value
}

/** Splits `a,b,c`. */
export function list(text: string): string[] {
  const items = text.split(',').map((item) => item.trim())
  if (items.includes('')) throw new InvalidArgumentError('Write names with commas between them.')
  return items
}

/** Splits `10.0.0.0/8,2001:db8::/32`. */
export function networkList(text: string): string[] {
  try {
    return readNetworks(list(text))
  } catch (error) {
    throw error instanceof RangeError ? new InvalidArgumentError(`${error.message}.`) : error
  }
}

const DURATION = /^(\d{1,6})(s|m|h|d|w)$/
const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** Parses `90s`, `30m`, `24h`, `30d`, `2w`, or 0. */
export function seconds(text: string): number {
  const [, digits, unit = ''] = DURATION.exec(text) ?? []
  if (text !== '0' && digits === undefined) {
    throw new InvalidArgumentError('Write a duration such as 90s, 30m, 24h, 30d or 2w.')
  }
  return Number(digits ?? 0) * (SECONDS[unit] ?? 1)
}

const TIME = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/

/** Parses the end of something: a day (its beginning in UTC), a time, or a duration from now. */
export function parseExpiryOption(text: string): Date {
  return parseMoment(text, 'from now', 1)
}

/** Parses when something was: a day (its beginning in UTC), a time, or a duration before now. */
export function parsePastOption(text: string): Date {
  return parseMoment(text, 'ago', -1)
}

function parseMoment(text: string, words: 'from now' | 'ago', direction: 1 | -1): Date {
  if (DURATION.test(text)) return new Date(Date.now() + direction * seconds(text) * 1000)
  const [, day] = TIME.exec(text) ?? []
  const parsed = new Date(text)
  // Date alone takes 31 November for 1 December.
  if (!z.iso.date().safeParse(day).success || Number.isNaN(parsed.getTime())) {
    throw new InvalidArgumentError(
      `Write 2030-12-31, 2030-12-31T08:00:00Z, or 30d for 30 days ${words}.`,
    )
  }
  return parsed
}
