/** Reads the vendor's answers, whose errors have an HTTP status or stand in base_resp under 200. */
import {
  asString,
  isObject,
  type JsonObject,
  member,
  printValue,
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
import type { TaskPoll } from '../task-driver.ts'
import type { WireResponse } from '../wire.ts'

/** docs/protocols/minimax.md#errors; any other code is the vendor's failure. */
const KIND_OF_CODE: Readonly<Record<number, FailureKind>> = {
  1002: 'busy',
  1004: 'channel_fault',
  1008: 'channel_fault',
  1039: 'busy',
  1041: 'busy',
  1026: 'rejected',
  1027: 'rejected',
  2013: 'rejected',
  2045: 'busy',
  2049: 'channel_fault',
  2056: 'channel_fault',
}

/** Codes of tasks whose prompt or result was refused. */
const VERDICTS: ReadonlySet<string> = new Set(['1026', '1027'])

/** Returns the document. Throws the error that it states. */
export async function readMinimaxAnswer(response: WireResponse): Promise<JsonObject> {
  const document = await readDocument(response)
  refuseBase(document, response.status)
  return document
}

/** Returns the document whatever base_resp states, which may be the failure of the task itself. */
export async function readDocument(response: WireResponse): Promise<JsonObject> {
  if (response.status >= 400) {
    throw describeFailure(response, tryParseJson(await readErrorBody(response)))
  }
  const document = await readJsonAnswer(response)
  const failure = describeFailure(response, document)
  if (isObject(document.error) && failure.details.isStated) throw failure
  return document
}

/** Throws the error that base_resp states under HTTP 200; code 0 is none. */
export function refuseBase(document: JsonObject, status: number): void {
  const { code, message } = readBase(document)
  if (code === undefined || code === '0') return
  const kind = KIND_OF_CODE[Number(code)] ?? 'failed'
  throw new UpstreamFailure(kind, {
    status: kind === 'busy' ? 429 : status,
    isStated: true,
    code,
    message: message ?? 'refused',
  })
}

/** Returns the end of a task whose content was refused, where base_resp states it. */
export function readVerdict(document: JsonObject): TaskPoll | undefined {
  const { code, message } = readBase(document)
  if (code === undefined || !VERDICTS.has(code)) return undefined
  return { state: 'failed', code, message: message ?? 'the content was refused' }
}

export function readBase({ base_resp: base }: JsonObject): {
  readonly code: string | undefined
  readonly message: string | undefined
} {
  const code = member(base, 'status_code')
  const message = asString(member(base, 'status_msg'))
  return { code: code === undefined ? undefined : printValue(code), message: message || undefined }
}

/** Describes an error with an HTTP status, in the nested form or in base_resp. */
function describeFailure(
  { status, headers }: Pick<WireResponse, 'status' | 'headers'>,
  document: unknown,
): UpstreamFailure {
  const error = member(document, 'error')
  const found = isObject(document) ? readBase(document) : undefined
  const base = found?.code === '0' ? undefined : found
  const message = asString(member(error, 'message')) ?? base?.message
  const stated = member(error, 'http_code')
  const own = status < 400 && typeof stated === 'number' ? stated : status
  return new UpstreamFailure(KIND_OF_CODE[Number(base?.code)] ?? classifyStatus(own), {
    status: own,
    isStated: Boolean(message) || base?.code !== undefined,
    message,
    retryAfterSeconds: readRetryAfter(headers),
  })
}
