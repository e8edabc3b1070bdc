/**
 * Reads the vendor's answers: `success` is part of each, whatever its status
 * (docs/protocols/mediakit.md#errors).
 */

import {
  asString,
  isObject,
  type JsonObject,
  member,
  tryParseJson,
} from '../../../base/lib/json.ts'
import {
  classifyStatus,
  type FailureKind,
  readErrorBody,
  readRetryAfter,
  UpstreamFailure,
} from '../failure.ts'
import { readJsonAnswer } from '../read-json.ts'
import { readTaskStatus } from '../task-answer.ts'
import type { WireResponse } from '../wire.ts'

const BUSY = /RateLimit|QuotaExceeded|Overload|TooManyRequests/i
const CHANNEL = /Authentication|AccessDenied|Overdue|Unauthorized|NotOpen/i
const REJECTED = /InvalidParameter|MissingParameter|ContentRejected|Unsupported/i

/** Returns the document. Throws the error that it states. */
export async function readMediakitAnswer(response: WireResponse): Promise<JsonObject> {
  if (response.status >= 400) {
    throw describeFailure(response, tryParseJson(await readErrorBody(response)))
  }
  const document = await readJsonAnswer(response)
  if (document.success === false) throw describeFailure(response, document)
  return document
}

/**
 * Returns the document about a task. `success: false` also reports that the task itself has failed,
 * so its `status` decides. Throws the error of the query.
 */
export async function readMediakitTask(response: WireResponse): Promise<JsonObject> {
  const document = await readAnyStatus(response)
  const hasState = readTaskStatus(document?.status) !== undefined
  if (document && (hasState || (response.status < 400 && document.success !== false))) {
    return document
  }
  throw describeFailure(response, document)
}

async function readAnyStatus(response: WireResponse): Promise<JsonObject | undefined> {
  if (response.status < 400) return await readJsonAnswer(response)
  const document = tryParseJson(await readErrorBody(response))
  return isObject(document) ? document : undefined
}

function describeFailure({ status, headers }: WireResponse, document: unknown): UpstreamFailure {
  const error = member(document, 'error')
  const code = asString(member(error, 'code'))
  const message = asString(member(error, 'message'))
  const retryAfterSeconds = readRetryAfter(headers)
  return new UpstreamFailure(kindOf(status, code), {
    status,
    isStated: member(document, 'success') === false || Boolean(code),
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
