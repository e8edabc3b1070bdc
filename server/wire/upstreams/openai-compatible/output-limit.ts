/**
 * The two names of the output limit. A vendor that refuses the one that was sent names it, and a
 * request under the other name is answered: nothing was done or billed for the refused one.
 */
import { isAbsent, type JsonObject } from '../../../base/lib/json.ts'
import { UpstreamFailure } from '../failure.ts'

const OTHER = {
  max_tokens: 'max_completion_tokens',
  max_completion_tokens: 'max_tokens',
} as const
export type LimitField = keyof typeof OTHER
const FIELDS = Object.keys(OTHER) as LimitField[]

/** Returns the edit after which a request has the limit under this name. */
export function renameLimit(field: LimitField | undefined): Record<string, string> | undefined {
  return field && { [OTHER[field]]: field }
}

/** Returns the name of a request's limit; undefined without one, or with both. */
export function readLimitField(value: JsonObject): LimitField | undefined {
  const [field, ...others] = FIELDS.filter((name) => !isAbsent(value[name]))
  return others.length === 0 ? field : undefined
}

const UNKNOWN_FIELD = /\b(?:unsupported|unrecogni[sz]ed|unknown|unexpected|extra)[ _]/i
/** A refused value is no reason to send the other name; some vendors name both in its refusal. */
const OF_VALUE = /\btoo (?:large|big|high)\b|\bunsupported[ _]value\b/i

/** Returns the name that a refusal of `sent` demands; undefined for any other failure. */
export function demandedLimit(failure: unknown, sent: LimitField): LimitField | undefined {
  if (!(failure instanceof UpstreamFailure) || failure.kind !== 'rejected') return undefined
  const { message = '', param, code = '' } = failure.details
  const text = `${code} ${message}`
  const isNamed = param === sent || message.includes(sent)
  const isUnknown = message.includes(OTHER[sent]) || UNKNOWN_FIELD.test(text)
  return isNamed && isUnknown && !OF_VALUE.test(text) ? OTHER[sent] : undefined
}
