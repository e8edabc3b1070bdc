/**
 * Reads an answer, a success only without an error in any of three places
 * (docs/protocols/volcengine-search.md#errors).
 */

import { asString, isObject, member } from '../../../base/lib/json.ts'
import type { BodyReading } from '../../dialects/tap.ts'

export interface SearchError {
  /** The vendor's code (docs/protocols/volcengine-search.md#errors); 0 where it states none. */
  readonly code: number
  readonly message: string
  /** True if the vendor's own envelope states it. */
  readonly isStated?: boolean
}

export function readSearchBody(document: unknown): BodyReading & { failure?: SearchError } {
  const failure = findError(document)
  if (!failure) return { outputBytes: 1, usage: { call: 1 } }
  const { message, code } = failure
  return { outputBytes: 0, failure, error: { type: 'server_error', message, code: String(code) } }
}

function findError(document: unknown): SearchError | undefined {
  if (!isObject(document)) return { code: 0, message: 'the answer is not a JSON object' }
  const metadata = member(member(document, 'ResponseMetadata'), 'Error')
  if (isObject(metadata)) {
    const code = Number(metadata.CodeN ?? metadata.Code ?? 0)
    return {
      code: Number.isFinite(code) ? code : 0,
      message: asString(metadata.Message) ?? 'error',
      isStated: true,
    }
  }
  const result = member(document, 'Result')
  const code = Number(member(result, 'ErrorCode') ?? 0)
  if (code !== 0) {
    return { code, message: asString(member(result, 'ErrorMsg')) ?? 'error', isStated: true }
  }
  return isObject(result) ? undefined : { code: 0, message: 'the answer has no Result' }
}
