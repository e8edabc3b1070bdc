/** Errors of rerankers, which each have a form of their own (docs/protocols/rerank.md#errors). */
import { asString, isObject, member, tryParseJson } from '../../../base/lib/json.ts'
import { refineRejection } from '../account-refusal.ts'
import {
  classifyStatus,
  type FailureKind,
  readErrorBody,
  readRetryAfter,
  UpstreamFailure,
} from '../failure.ts'
import type { WireResponse } from '../wire.ts'

const OF_ACCOUNT = /^(?:Arrearage|InvalidApiKey|AccessDenied|Model\.AccessDenied)/
const OF_QUOTA = /^(?:AllocationQuota|Throttling\.AllocationQuota|PrepaidBillOverdue)/

/** `value` is the request, whose own words prove nothing. */
export async function readRerankFailure(
  response: WireResponse,
  value: unknown,
): Promise<UpstreamFailure> {
  const { status, headers } = response
  const document = tryParseJson(await readErrorBody(response))
  const message = readMessage(document)
  const code = asString(member(document, 'code'))
  const isPage = !isObject(document) && !Array.isArray(document)
  const kind = refineRejection(kindOf(status, code), message, value)
  return new UpstreamFailure(kind === 'rejected' && isPage ? 'failed' : kind, {
    status,
    message,
    code,
    retryAfterSeconds: readRetryAfter(headers),
  })
}

function kindOf(status: number, code = ''): FailureKind {
  return OF_ACCOUNT.test(code) || OF_QUOTA.test(code) ? 'channel_fault' : classifyStatus(status)
}

function readMessage(document: unknown): string | undefined {
  const { message, detail, error } = isObject(document) ? document : {}
  const [first] = Array.isArray(detail) ? detail : []
  const texts = [message, detail, member(first, 'msg'), error, member(error, 'message')]
  return texts.map(asString).find((text) => text !== undefined)
}
