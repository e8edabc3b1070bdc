/** Reads what vendors' answers about tasks have in common: ids, statuses, and unknown tasks. */

import { Readable } from 'node:stream'
import {
  asString,
  isObject,
  type JsonObject,
  member,
  tryParseJson,
  writeJson,
} from '../../base/lib/json.ts'
import { isStatedError } from '../dialects/reported-error.ts'
import { readErrorBody, UpstreamFailure } from './failure.ts'
import { readJsonDocument } from './read-json.ts'
import type { SubmittedTask } from './task-driver.ts'
import type { WireResponse } from './wire.ts'

/**
 * Reads the answer to a creation. Without an id, throws the refusal that the document states in any
 * form, else `unknown`: the vendor has accepted the task, but it cannot be polled.
 */
export function submittedAs(
  id: unknown,
  { status }: Pick<WireResponse, 'status'>,
  document: JsonObject,
): SubmittedTask {
  const upstreamId = readUpstreamId(id)
  if (upstreamId !== undefined) return { upstreamId }
  refuseIfFailed(document, status)
  throw new UpstreamFailure('unknown', { status, message: 'no id in the answer' })
}

/**
 * Reads the answer to a creation by `read`, also one that has an id beside an error, or under the
 * status of a server error: the vendor may have the task and bill it, so that another route would
 * make a second one; or the id is that of the request alone. A refusal of the request has no task.
 */
export async function readSubmitted(
  response: WireResponse,
  read: (response: WireResponse) => Promise<SubmittedTask>,
  idOf: (document: JsonObject) => unknown = () => undefined,
): Promise<SubmittedTask> {
  const { status, headers, room } = response
  if (status >= 400 && status < 500) return await read(response)
  const { document, bytes } = await readBody(response)
  const readAs = (stated: number) =>
    read({ status: stated, headers, room, body: Readable.from([bytes]) })
  const named = isObject(document) ? readUpstreamId(idOf(document)) : undefined
  const taken = status < 500 ? undefined : await readAs(200).catch(() => undefined)
  try {
    return await readAs(status)
  } catch (refusal) {
    const upstreamId = taken?.upstreamId ?? named
    if (upstreamId === undefined || !(refusal instanceof UpstreamFailure)) throw refusal
    return { upstreamId, refusal }
  }
}

const ANSWER_BYTES_MAX = 8 * 1024 * 1024

/** Returns the body, and what it says as JSON. An error's words may be another text. */
async function readBody(response: WireResponse) {
  if (response.status >= 400) {
    const bytes = await readErrorBody(response)
    return { document: tryParseJson(bytes), bytes }
  }
  const document = await readJsonDocument(response, ANSWER_BYTES_MAX)
  return { document, bytes: Buffer.from(document === undefined ? '' : writeJson(document)) }
}

/**
 * Throws `failed` for an error under a status of success that is not in the vendor's documented
 * form: relays write `error` as a text, `success: false` or a status word, in any letter case.
 */
export function refuseIfFailed(document: JsonObject, status: number): void {
  const fields = new Map(Object.entries(document).map(([name, one]) => [name.toLowerCase(), one]))
  const error = fields.get('error')
  const isFailed = fields.get('success') === false || hasEnded(readTaskStatus(fields.get('status')))
  if (!isStatedError(error) && !isFailed) return
  const message = asString(error) ?? asString(member(error, 'message'))
  const stated = message ?? asString(fields.get('message'))
  throw new UpstreamFailure('failed', { status, isStated: true, message: stated || 'refused' })
}

function hasEnded(status: TaskStatus | undefined): boolean {
  return status === 'failed' || status === 'expired' || status === 'cancelled'
}

/**
 * Reads an id that is a text or, as some gateways in between write it, a whole number. An id that
 * consists only of dots would lead to another path.
 */
export function readUpstreamId(id: unknown): string | undefined {
  if (typeof id === 'string' && id !== '' && id !== '.' && id !== '..') return id
  return typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : undefined
}

export type TaskStatus = 'queued' | 'processing' | 'succeeded' | 'failed' | 'expired' | 'cancelled'

const WORDS: Readonly<Record<TaskStatus, string>> = {
  queued: 'queued queueing queuing pending suspended preparing waiting submitted created',
  processing: 'running processing in_progress generating',
  succeeded: 'succeeded success succeed completed complete done finished',
  failed: 'failed fail failure error',
  expired: 'expired timeout',
  cancelled: 'cancelled canceled',
}

const STATUS_OF: ReadonlyMap<string, TaskStatus> = new Map(
  (Object.entries(WORDS) as [TaskStatus, string][]).flatMap(([status, words]) =>
    words.split(' ').map((word) => [word, status] as const),
  ),
)

/**
 * Returns the meaning of a vendor's status word, ignoring case; undefined for an undocumented one.
 */
export function readTaskStatus(word: unknown): TaskStatus | undefined {
  return typeof word === 'string' ? STATUS_OF.get(word.trim().toLowerCase()) : undefined
}

/** Words that envelopes of answers to any request have, too. */
const OF_ENVELOPE = /^(?:error|fail|failed|failure|timeout)$/i

/**
 * Throws `failed` for the error of something in between, such as `{"status": "error"}`: without an
 * id it says nothing about the task, which may be at work and billed. A task that `failed` without
 * an id has an error of the vendor's form.
 */
export function refuseEnvelope(status: unknown, id: unknown, error?: unknown): void {
  if (typeof status !== 'string' || !OF_ENVELOPE.test(status.trim())) return
  if (readUpstreamId(id) !== undefined) return
  if (/^failed$/i.test(status.trim()) && isObject(error) && isStatedError(error)) return
  throw new UpstreamFailure('failed', { message: `${status} in an answer without a task` })
}

/**
 * Returns true for the vendor's own 404 or 410, which has a document. Throws `channel_fault` for
 * any other: the page of a proxy says nothing about the task, which may be at work and billed.
 */
export async function isUnknownTask(response: WireResponse): Promise<boolean> {
  const { status } = response
  if (status !== 404 && status !== 410) return false
  if (isObject(tryParseJson(await readErrorBody(response)))) return true
  throw new UpstreamFailure('channel_fault', {
    status,
    message: `a ${status} that is not the vendor’s own: the address of the channel leads elsewhere`,
  })
}
