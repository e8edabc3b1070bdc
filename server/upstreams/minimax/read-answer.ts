/** The vendor's answers: a rejection has a status of its own, or hides under 200 in base_resp. */
import { asString, type JsonObject, member, tryParseJson } from '../../lib/json.ts'
import {
  classifyStatus,
  type FailureKind,
  readErrorBody,
  readRetryAfter,
  UpstreamFailure,
} from '../failure.ts'
import { readJsonAnswer } from '../read-json.ts'
import type { TaskLook } from '../task-driver.ts'
import type { WireResponse } from '../upstream.ts'

/** docs/protocols/minimax.md#errors; any other code may come after the vendor took the task. */
const KIND_OF_CODE: Readonly<Record<number, FailureKind>> = {
  1002: 'busy',
  1004: 'channel_fault',
  1008: 'channel_fault',
  1026: 'rejected',
  1027: 'rejected',
  2013: 'rejected',
  2049: 'channel_fault',
}

/** Of a task that has failed for what it was asked to make, or made. */
const VERDICTS: ReadonlySet<string> = new Set(['1026', '1027'])

/** The document of a good answer. `creating`: what may have been carried out stays unknown. */
export async function readAnswer(response: WireResponse, creating: boolean): Promise<JsonObject> {
  const document = await readDocument(response, creating)
  refuseBase(document, response.status, creating)
  return document
}

/** The same, whatever base_resp says: an answer about a task may state its failure there. */
export async function readDocument(response: WireResponse, creating: boolean): Promise<JsonObject> {
  if (response.status >= 400) throw await readFailure(response, creating)
  return await readJsonAnswer(response)
}

/** Throws what base_resp says under HTTP 200, unless it says that all is well. */
export function refuseBase(document: JsonObject, status: number, creating: boolean): void {
  const { code, message } = readBase(document)
  if (code === undefined || code === '0') return
  const kind = KIND_OF_CODE[Number(code)] ?? (creating ? 'unknown' : 'failed')
  throw new UpstreamFailure(kind, {
    ...{ status: kind === 'busy' ? 429 : status, code, message: message ?? 'refused' },
  })
}

/** The end of a task whose content was refused, as far as base_resp tells it. */
export function readVerdict(document: JsonObject): TaskLook | undefined {
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
  const retryAfterSeconds = readRetryAfter(asString(response.headers['retry-after']))
  const kind = classifyStatus(response.status)
  return new UpstreamFailure(creating && kind === 'failed' ? 'unknown' : kind, {
    status: response.status,
    message,
    retryAfterSeconds,
  })
}
