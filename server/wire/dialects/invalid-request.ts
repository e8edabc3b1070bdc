/** Refusals of fields by name. */
import { isAbsent } from '../../base/lib/json.ts'

/** A request that the dialect or the upstream does not support; the caller must correct it. */
export class InvalidRequest extends Error {
  /** The field at fault, for example `messages[2].content`. */
  readonly param: string

  /** `message` is public. */
  constructor(param: string, message: string) {
    super(`${param}: ${message}`)
    this.name = 'InvalidRequest'
    this.param = param
  }
}

/**
 * Characters of the name of a tool; vendors take 128 at most. The engine hashes a text of more than
 * 16,383 by its length alone, so that a set compares each with all others.
 */
export const NAME_LENGTH_MAX = 1_024

/** Returns the name of a tool. Throws for an absent, empty or overlong one. */
export function expectName(value: unknown, param: string): string {
  if (typeof value !== 'string' || value === '') throw new InvalidRequest(param, 'is required')
  if (value.length <= NAME_LENGTH_MAX) return value
  throw new InvalidRequest(param, `is longer than ${NAME_LENGTH_MAX} characters`)
}

/** Throws for a field that is set but not a number. */
export function checkNumbers(fields: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (isAbsent(value) || typeof value === 'number') continue
    throw new InvalidRequest(name, 'must be a number')
  }
}
