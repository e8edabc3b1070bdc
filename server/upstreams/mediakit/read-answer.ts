/**
 * Reads the vendor's answers: `success` is part of each, whatever its status
 * (docs/protocols/mediakit.md#errors).
 */
import { asString, type JsonObject, member, tryParseJson } from '../../lib/json.ts'
import {
  classifyStatus,
  type FailureKind,
  readErrorBody,
  readRetryAfter,
  UpstreamFailure,
} from '../failure.ts'
import { readJsonAnswer } from '../read-json.ts'
import type { WireResponse } from '../wire.ts'

const BUSY = /RateLimit|QuotaExceeded|Overload|TooManyRequests/i
const CHANNEL = /Authentication|AccessDenied|Overdue|Unauthorized|NotOpen/i
const REJECTED = /InvalidParameter|MissingParameter|ContentRejected|Unsupported/i

/** Returns the document. `creating`: a failure after which a task may exist is `unknown`. */
export async function readMediakitAnswer(
  response: WireResponse,
  creating: boolean,
): Promise<JsonObject> {
  if (response.status >= 400) {
    const document = tryParseJson(await readErrorBody(response))
    throw describeFailure(response, document, creating)
  }
  const document = await readJsonAnswer(response)
  if (document.success === false) throw describeFailure(response, document, creating)
  return document
}

function describeFailure(
  { status, headers }: WireResponse,
  document: unknown,
  creating: boolean,
): UpstreamFailure {
  const error = member(document, 'error')
  const code = asString(member(error, 'code'))
  const message = asString(member(error, 'message'))
  const retryAfterSeconds = readRetryAfter(headers)
  const kind = kindOf(status, code)
  return new UpstreamFailure(creating && kind === 'failed' ? 'unknown' : kind, {
    status,
    message,
    code,
    retryAfterSeconds,
  })
}

function kindOf(status: number, code: string | undefined): FailureKind {
  if (code !== undefined && status < 500) {
    if (BUSY.test(code)) return 'busy'
    if (CHANNEL.test(code)) return 'channel_fault'
    if (REJECTED.test(code)) return 'rejected'
  }
  return classifyStatus(status)
}
