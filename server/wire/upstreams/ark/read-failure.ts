/** Classifies the vendor's error answers for a task (docs/protocols/ark.md#errors). */
import { asString, member, tryParseJson } from '../../../base/lib/json.ts'
import { refineRejection } from '../account-refusal.ts'
import {
  classifyStatus,
  type FailureKind,
  readErrorBody,
  readRetryAfter,
  UpstreamFailure,
} from '../failure.ts'
import type { WireResponse } from '../wire.ts'

const BUSY = /RateLimit|QuotaExceeded|ServerOverloaded|RequestBurstTooFast|SetLimit|Inflight/i
const CHANNEL = anyOf(
  'AuthenticationError',
  'InvalidAccountStatus',
  'AccessDenied',
  'Overdue',
  'OperationDenied',
  'Subscription',
  'InvalidEndpoint',
  'ModelNotOpen',
  'NotFound',
)
const REJECTED = anyOf(
  'MissingParameter',
  'InvalidParameter',
  'InvalidArgument',
  'InvalidImageURL',
  'OutofContext',
  'SensitiveContent',
  'RiskDetection',
  'ContentSecurity',
)

function anyOf(...words: readonly string[]): RegExp {
  return new RegExp(words.join('|'), 'i')
}

/** Reads an answer with an error status. `value` is the request. */
export async function readArkFailure(
  response: WireResponse,
  value?: unknown,
): Promise<UpstreamFailure> {
  return describeArkFailure(response, tryParseJson(await readErrorBody(response)), value)
}

/** Describes the error in a document, whatever the status above it. */
export function describeArkFailure(
  response: Pick<WireResponse, 'status' | 'headers'>,
  document: unknown,
  value?: unknown,
): UpstreamFailure {
  const error = member(document, 'error')
  const code = asString(member(error, 'code'))
  const message = asString(member(error, 'message'))
  const param = asString(member(error, 'param'))
  const retryAfterSeconds = readRetryAfter(response.headers)
  const kind = refineRejection(kindOf(response.status, code), message, value)
  return new UpstreamFailure(kind, {
    status: response.status,
    isStated: Boolean(code) || Boolean(message),
    message: message && withoutRequestId(message),
    code,
    param,
    retryAfterSeconds,
  })
}

function kindOf(status: number, code: string | undefined): FailureKind {
  if (code !== undefined && status < 500) {
    if (BUSY.test(code)) return 'busy'
    if (REJECTED.test(code)) return 'rejected'
    if (CHANNEL.test(code)) return 'channel_fault'
  }
  return classifyStatus(status)
}

const REQUEST_ID = /Request id: ?\S+$/i

/** Removes the vendor's request id, which is useless to callers. */
function withoutRequestId(message: string): string {
  const start = message.search(REQUEST_ID)
  return start === -1 ? message : message.slice(0, start).trimEnd()
}
