/** Reads Google's form of errors (docs/protocols/google.md#errors), alone or in a list. */
import { asString, isObject, member } from '../../../base/lib/json.ts'
import { isStatedError } from '../reported-error.ts'

export interface GoogleError {
  readonly message?: string | undefined
  /** The name of the status, such as `RESOURCE_EXHAUSTED`. */
  readonly status?: string | undefined
  /** Such as `API_KEY_INVALID`. */
  readonly reason?: string | undefined
  readonly retryAfterSeconds?: number | undefined
  /** True if a quota of a day, or one of zero, is used up. */
  readonly isQuotaOfDay?: boolean
}

/** Returns undefined for anything else, such as an empty error beside candidates. */
export function readGoogleError(document: unknown): GoogleError | undefined {
  const answer: unknown = Array.isArray(document) ? document[0] : document
  const error = member(answer, 'error')
  const isBeside = Array.isArray(member(answer, 'candidates')) && !isStatedError(error)
  if (!isObject(error) || isBeside) return undefined
  const details = Array.isArray(error.details) ? error.details : []
  const reasons = details.map((detail) => asString(member(detail, 'reason')))
  const delays = details.map((detail) => asString(member(detail, 'retryDelay')))
  const violations = details.flatMap((detail) => member(detail, 'violations') ?? [])
  return {
    message: asString(error.message),
    status: asString(error.status),
    reason: reasons.find((reason) => reason !== undefined),
    retryAfterSeconds: readDelay(delays.find((delay) => delay !== undefined)),
    isQuotaOfDay: violations.some(isOfDay),
  }
}

function isOfDay(violation: unknown): boolean {
  const id = asString(member(violation, 'quotaId')) ?? ''
  return id.includes('PerDay') || member(violation, 'quotaValue') === '0'
}

/** A duration such as `34.07s`. */
function readDelay(text: string | undefined): number | undefined {
  const seconds = /^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(text ?? '')?.[1]
  return seconds === undefined ? undefined : Number(seconds)
}
