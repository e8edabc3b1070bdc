/**
 * Reads answers of the services for recordings, which put the outcome into two headers under HTTP
 * 200 (docs/protocols/volcengine-speech.md#outcome-in-headers). Refusals of the platform itself
 * have an HTTP status of their own.
 */
import { asString, isObject, type JsonObject, member, tryParseJson } from '../../base/lib/json.ts'
import { refineRejection } from './account-refusal.ts'
import { classifyStatus, type FailureKind, readErrorBody, UpstreamFailure } from './failure.ts'
import { readJsonDocument } from './read-json.ts'
import { refuseIfFailed } from './task-answer.ts'
import type { WireResponse } from './wire.ts'

const ANSWER_BYTES_MAX = 64 * 1024 * 1024
const OK = 20000000
const RUNNING = 20000001
const QUEUED = 20000002
const SILENT = 20000003
const INVALID = '45000001'
const NOT_GRANTED = 45000030
const BUSY = 55000031
const SERVER_FAULTS = 50000000

/** Public messages in place of the vendor's, where those say too little. */
const MESSAGES: Readonly<Record<number, string>> = {
  [SILENT]: 'no speech was found in the recording',
  45000002: 'the recording is empty',
  45000151: 'the format of the recording is not supported',
}

export type UpstreamTaskOutcome =
  | { readonly state: 'queued' | 'processing'; readonly document: JsonObject }
  | { readonly state: 'done'; readonly document: JsonObject }
  /** The recording itself is at fault: a repeated query is useless. */
  | { readonly state: 'failed'; readonly code: string; readonly message: string }

type FailedOutcome = Extract<UpstreamTaskOutcome, { state: 'failed' }>

/**
 * Reads an answer of either service. Throws UpstreamFailure where it has no outcome of the task.
 */
export async function readOutcome(
  response: WireResponse,
  value?: unknown,
): Promise<UpstreamTaskOutcome> {
  if (response.status >= 400) throw await readRefusal(response, value)
  const body = await readJsonDocument(response, ANSWER_BYTES_MAX)
  const document = isObject(body) ? body : {}
  const code = Number(asString(response.headers['x-api-status-code']))
  const words = asString(response.headers['x-api-message'])
  if (code === OK) return { state: 'done', document }
  if (code === RUNNING) return { state: 'processing', document }
  if (code === QUEUED) return { state: 'queued', document }
  if (!(Number.isInteger(code) && code > OK)) {
    refuseIfFailed(document, response.status)
    const message = 'the answer has no outcome'
    throw new UpstreamFailure('unknown', { status: response.status, message })
  }
  if (code === NOT_GRANTED || code >= SERVER_FAULTS) {
    const kind = kindOf(code)
    const message = words ?? kind
    throw new UpstreamFailure(kind, { status: 200, isStated: true, code: String(code), message })
  }
  return { state: 'failed', code: String(code), message: MESSAGES[code] ?? words ?? 'refused' }
}

/**
 * Returns true if a query names no known task: its id is the only parameter that can be invalid. A
 * task that was submitted a moment ago may not be known to every server yet.
 */
export function isUnknownId({ code }: FailedOutcome): boolean {
  return code === INVALID
}

function kindOf(code: number): FailureKind {
  if (code === NOT_GRANTED) return 'channel_fault'
  return code === BUSY ? 'busy' : 'failed'
}

/** Reads a refusal before the product, whose body is `{"header": {"code", "message"}}`. */
async function readRefusal(response: WireResponse, value: unknown): Promise<UpstreamFailure> {
  const header = member(tryParseJson(await readErrorBody(response)), 'header')
  const message = asString(member(header, 'message'))
  const code = member(header, 'code')
  const kind = classifyStatus(response.status)
  return new UpstreamFailure(value === undefined ? kind : refineRejection(kind, message, value), {
    status: response.status,
    isStated: message !== undefined || code !== undefined,
    message,
    ...(typeof code === 'number' ? { code: String(code) } : {}),
  })
}

/**
 * Returns the failure for a refused recording: a 400 with the vendor's message, unless its words
 * are about the channel's account. `value` is the request.
 */
export function refuseRecording(
  { code, message }: FailedOutcome,
  value: unknown = null,
): UpstreamFailure {
  const kind = refineRejection('rejected', message, value)
  return new UpstreamFailure(kind, { status: 200, isStated: true, code, message })
}
