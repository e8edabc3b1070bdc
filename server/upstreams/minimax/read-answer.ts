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
import type { WireResponse } from '../upstream.ts'

/** upstreams.md 6B.2; what is not listed may have happened after the vendor took the task. */
const KIND_OF_CODE: Readonly<Record<number, FailureKind>> = {
  1002: 'busy',
  1004: 'channel_fault',
  1008: 'channel_fault',
  1026: 'rejected',
  1027: 'rejected',
  2013: 'rejected',
  2049: 'channel_fault',
}

/** The document of a good answer. `creating`: what may have been carried out stays unknown. */
export async function readAnswer(response: WireResponse, creating: boolean): Promise<JsonObject> {
  if (response.status >= 400) throw await readFailure(response, creating)
  const document = await readJsonAnswer(response)
  const base = document.base_resp
  const code = member(base, 'status_code')
  if (code === undefined || code === 0) return document
  const kind = KIND_OF_CODE[Number(code)] ?? (creating ? 'unknown' : 'failed')
  throw new UpstreamFailure(kind, {
    ...(kind === 'busy' ? { status: 429 } : { status: response.status }),
    code: String(code),
    message: asString(member(base, 'status_msg')) ?? 'refused',
  })
}

async function readFailure(response: WireResponse, creating: boolean): Promise<UpstreamFailure> {
  const error = member(tryParseJson(await readErrorBody(response)), 'error')
  const message = asString(member(error, 'message'))
  const retryAfterSeconds = readRetryAfter(asString(response.headers['retry-after']))
  const kind = classifyStatus(response.status)
  return new UpstreamFailure(creating && kind === 'failed' ? 'unknown' : kind, {
    status: response.status,
    ...(message === undefined ? {} : { message }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  })
}
