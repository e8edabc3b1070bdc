/** Reads the vendor's answers, whose errors have an HTTP status or stand in base_resp under 200. */
import { asString, type JsonObject, member, tryParseJson } from '../../lib/json.ts'
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

/** docs/protocols/minimax.md#errors; any other code may come after the vendor took the task. */
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

/** Returns the document. `creating`: a failure after which a task may exist is `unknown`. */
export async function readMinimaxAnswer(
  response: WireResponse,
  creating: boolean,
): Promise<JsonObject> {
  const document = await readDocument(response, creating)
  refuseBase(document, response.status, creating)
  return document
}

/** Returns the document whatever base_resp states, which may be the failure of the task itself. */
export async function readDocument(response: WireResponse, creating: boolean): Promise<JsonObject> {
  if (response.status >= 400) throw await readFailure(response, creating)
  return await readJsonAnswer(response)
}

/** Throws the error that base_resp states under HTTP 200; code 0 is none. */
export function refuseBase(document: JsonObject, status: number, creating: boolean): void {
  const { code, message } = readBase(document)
  if (code === undefined || code === '0') return
  const kind = KIND_OF_CODE[Number(code)] ?? (creating ? 'unknown' : 'failed')
  throw new UpstreamFailure(kind, {
    status: kind === 'busy' ? 429 : status,
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
  return { code: code === undefined ? undefined : String(code), message: message || undefined }
}

async function readFailure(response: WireResponse, creating: boolean): Promise<UpstreamFailure> {
  const error = member(tryParseJson(await readErrorBody(response)), 'error')
  const message = asString(member(error, 'message'))
  const retryAfterSeconds = readRetryAfter(response.headers)
  const kind = classifyStatus(response.status)
  return new UpstreamFailure(creating && kind === 'failed' ? 'unknown' : kind, {
    status: response.status,
    message,
    retryAfterSeconds,
  })
}
