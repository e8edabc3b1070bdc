/** Classifies the vendor's errors (docs/protocols/dashscope.md#errors). */
import { asString, type JsonObject, member, tryParseJson } from '../../../base/lib/json.ts'
import { refineRejection } from '../account-refusal.ts'
import { classifyStatus, type FailureKind, readErrorBody, UpstreamFailure } from '../failure.ts'
import { readJsonAnswer } from '../read-json.ts'
import { readUpstreamId } from '../task-answer.ts'
import type { WireResponse } from '../wire.ts'

/** Codes with a specific meaning; all others are classified by their status. */
const KINDS: readonly (readonly [RegExp, FailureKind])[] = [
  // The vendor may have made the task before it gave up.
  [/^(?:InternalError\.Timeout|RequestTimeOut|ResponseTimeout)/, 'unknown'],
  [/^(?:Throttling|limit_|LimitRequests|insufficient_quota|ServiceUnavailable|ModelUnav)/, 'busy'],
  [/^(?:InvalidApiKey|(?:\w+\.)?AccessDenied|Arrearage|AllocationQuota)/, 'channel_fault'],
  [/^(?:CommodityNotPurchased|\w+BillOverdue|\w*NotFound|model_not_)/, 'channel_fault'],
  [/^(?:DataInspectionFailed|IPInfringement|Invalid(?:Parameter|URL|File))/, 'rejected'],
]

/**
 * Returns the document. Throws the error that it states, unless there is a task beside it: then the
 * error is the task's. `request` is that of a creation, or of a call.
 */
export async function readDashscope(
  response: WireResponse,
  request?: unknown,
): Promise<JsonObject> {
  if (response.status >= 400) {
    throw describeDashscopeFailure(
      response.status,
      tryParseJson(await readErrorBody(response)),
      request,
    )
  }
  const document = await readJsonAnswer(response)
  const code = asString(document.code)
  const isOfTask = request === undefined || /^success$/i.test(code ?? '')
  const isTask = isOfTask && readUpstreamId(member(document.output, 'task_id')) !== undefined
  if (code && !isTask) throw describeDashscopeFailure(response.status, document, request)
  return document
}

/** Reads the answer to a creation. The vendor may fail after the task was made. */
export async function readCreation(response: WireResponse, request: unknown): Promise<JsonObject> {
  return readDashscope(response, request).catch((error: unknown) => {
    if (!(error instanceof UpstreamFailure)) throw error
    const isOwn = response.status >= 500 && (error.kind === 'failed' || error.kind === 'unknown')
    const isInternal = /^(?:InternalError|SystemError)/.test(error.details.code ?? '')
    if (!isOwn && !isInternal) throw error
    throw new UpstreamFailure('unknown', { ...error.details, isStated: false })
  })
}

/** The vendor may repeat words from `request`, so these prove nothing about the channel. */
export function describeDashscopeFailure(status: number, document: unknown, request?: unknown) {
  const code = asString(member(document, 'code'))
  const message = asString(member(document, 'message'))
  const named = KINDS.find(([pattern]) => pattern.test(code ?? ''))?.[1]
  const kind = named ?? refineRejection(classifyStatus(status), message, request)
  const isStated = named !== 'unknown' && Boolean(code || message)
  return new UpstreamFailure(kind, { status, isStated, code, message })
}
