/** Reads the vendor's answers, whose `code` decides (docs/protocols/kling.md#errors). */
import {
  asString,
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
  // Money and rights, some of them under the status of a rate.
  if ((code >= 1000 && code <= 1103) || code === 1304) return 'channel_fault'
  if (code === 1202 || code === 1203) return 'channel_fault'
  if (code >= 1200 && code <= 1301) return 'rejected'
  // The task may exist: it is asked for by the id that the gateway gave it.
  return code >= 5000 && code <= 5002 ? 'unknown' : undefined
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
  if (status < 400 && isObject(document) && (code === 0 || code === undefined)) return document
  const message = asString(member(document, 'message'))
  const named = kindOfCode(Number(code))
  const kind = named ?? refineRejection(classifyStatus(status), message, request)
  const isStated = named !== 'unknown' && code !== undefined
  throw new UpstreamFailure(kind, { status, isStated, message, code: readUpstreamId(code) })
}
