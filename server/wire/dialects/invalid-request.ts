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

/** Throws for a field that is set but not a number. */
export function checkNumbers(fields: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (isAbsent(value) || typeof value === 'number') continue
    throw new InvalidRequest(name, 'must be a number')
  }
}
