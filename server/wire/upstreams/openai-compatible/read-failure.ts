/** Classifies error answers in OpenAI's and ARK's form. */
import { asString, isObject, member, tryParseJson } from '../../../base/lib/json.ts'
import {
  CONTEXT_LENGTH_CODE,
  isContextLength,
} from '../../dialects/messages-over-chat/context-length.ts'
import { refineRejection } from '../account-refusal.ts'
import {
  classifyStatus,
  type FailureKind,
  readErrorBody,
  readRetryAfter,
  UpstreamFailure,
} from '../failure.ts'
import type { WireResponse } from '../wire.ts'

/**
 * Codes about the channel's account, whatever their status
 * (docs/protocols/openai.md#errors-in-answers).
 */
const CHANNEL_CODES = new RegExp(
  [
    'insufficient_quota|billing|overdue|quotaexceeded|servicenotopen|modelnotopen',
    'blocked_api_access|organization_restricted',
    'invalid_api_key|account_?deactivated|accessdenied|closedendpoint',
    'exceeded_current_quota|arrearage|allocationquota|insufficient_?balance|out_of_credits',
    // Numeric codes of vendors that have no code names: no money, no such key, no such model.
    '^(100[0-4]|111[23]|1211|20012|30001|30014)$',
    // About the model, not about a response or a file that the request names.
    '(model|endpoint\\w{0,40})[._]?not_?found',
  ].join('|'),
  'i',
)
/** Codes of overload, under statuses that do not show it. */
const BUSY_CODES =
  /ratelimit|rate_limit_exceeded|serveroverloaded|requestbursttoofast|inflightbatch|^130[25]$/i

/**
 * A content refusal with the status of a refused key. Its message names the account's team and key.
 * Each refusal is billed, so no other route may be tried.
 */
const GUIDELINES = /\bviolates usage guidelines\b/i

function isOfContent(status: number, message: string | undefined): boolean {
  return status === 403 && message !== undefined && GUIDELINES.test(message)
}

/** `value` is the request, whose own words do not classify the answer. */
export async function readCompatibleFailure(
  response: WireResponse,
  value?: unknown,
): Promise<UpstreamFailure> {
  const body = await readErrorBody(response)
  const parsed = tryParseJson(body)
  // Google's errors are the one entry of a list.
  const document: unknown = Array.isArray(parsed) ? parsed[0] : parsed
  const nested = member(document, 'error')
  // Some vendors state the error at the top, beside or in place of a text.
  const error = isObject(nested) ? nested : document
  const message =
    asString(member(error, 'message')) ??
    asString(nested) ??
    readDetail(document) ??
    asString(document)
  if (isOfContent(response.status, message)) {
    return new UpstreamFailure('rejected', {
      status: response.status,
      message: 'the content violates the usage guidelines of the vendor',
    })
  }
  const code = readCode(member(error, 'code')) ?? asString(member(error, 'type'))
  const param = asString(member(error, 'param'))
  const retryAfterSeconds = readRetryAfter(response.headers)
  const contentType = asString(response.headers['content-type']) ?? 'application/json'
  const kind = refineRejection(kindOf(response.status, code), message, value)
  // Callers know this refusal by OpenAI's code; most vendors state another one, or only words.
  const isTooLong = kind === 'rejected' && isContextLength({ message, code })
  return new UpstreamFailure(kind, {
    status: response.status,
    isStated: isObject(nested),
    answer: { contentType, body },
    message,
    code: isTooLong ? CONTEXT_LENGTH_CODE : code,
    param,
    retryAfterSeconds,
  })
}

/** Reads the first problem of a validator: its place below the body, and what is wrong. */
function readDetail(document: unknown): string | undefined {
  const detail = member(document, 'detail') ?? member(member(document, 'message'), 'detail')
  if (!Array.isArray(detail)) return asString(detail)
  const [first] = detail
  const places = member(first, 'loc')
  const place = Array.isArray(places) ? places.filter((one) => one !== 'body').join('.') : ''
  const problem = asString(member(first, 'msg'))
  return problem && place ? `${place}: ${problem}` : problem
}

function readCode(code: unknown): string | undefined {
  return Number.isSafeInteger(code) ? String(code) : asString(code)
}

function kindOf(status: number, code: string | undefined): FailureKind {
  if (code !== undefined && BUSY_CODES.test(code)) return 'busy'
  if (code !== undefined && CHANNEL_CODES.test(code)) return 'channel_fault'
  return classifyStatus(status)
}
