/** Reads the vendor's answers, whose `code` decides (docs/protocols/kling.md#errors). */
import {
  asString,
  isAbsent,
  isObject,
  type JsonObject,
  member,
  tryParseJson,
} from '../../../base/lib/json.ts'
import { refineRejection } from '../account-refusal.ts'
import { classifyStatus, type FailureKind, readErrorBody, UpstreamFailure } from '../failure.ts'
import { readJsonAnswer } from '../read-json.ts'
import { readUpstreamId } from '../task-answer.ts'
import type { WireResponse } from '../wire.ts'

function kindOfCode(code: number): FailureKind | undefined {
  if (code === 1302 || code === 1303) return 'busy'
  // Codes about money and permissions, some of which come with the status of a rate limit.
  if ((code >= 1000 && code <= 1103) || code === 1304) return 'channel_fault'
  if (code === 1202 || code === 1203) return 'channel_fault'
  if (code >= 1200 && code <= 1301) return 'rejected'
  // The task may exist, so it is looked up by the id that the gateway gave it.
  return code >= 5000 && code <= 5002 ? 'unknown' : undefined
}

/**
 * Neither an unknown code with a success status nor a fault of the vendor proves that there is no
 * task.
 */
function kindOfStatus(status: number, message: string | undefined, request: unknown): FailureKind {
  if (status < 400 || status >= 500) return 'unknown'
  return refineRejection(classifyStatus(status), message, request)
}

/** Returns the document. Throws the error that it states. */
export async function readKlingAnswer(
  response: WireResponse,
  request?: unknown,
): Promise<JsonObject> {
  const { status } = response
  const document =
    status < 400 ? await readJsonAnswer(response) : tryParseJson(await readErrorBody(response))
  const code = member(document, 'code')
  if (status < 400 && isObject(document) && (isAbsent(code) || Number(code) === 0)) return document
  const message = asString(member(document, 'message'))
  const kind = kindOfCode(Number(code)) ?? kindOfStatus(status, message, request)
  const isStated = kind !== 'unknown' && !isAbsent(code)
  throw new UpstreamFailure(kind, { status, isStated, message, code: readUpstreamId(code) })
}
