/** One question to the vendor that makes a response in the background. */
import { readResponseStatus } from '../../dialects/responses/read-status.ts'
import { asString, tryParseJson } from '../../lib/json.ts'
import { readAtMost } from '../../pipeline/answer/read-at-most.ts'
import {
  classifyStatus,
  readErrorBody,
  readRetryAfter,
  UpstreamFailure,
} from '../../upstreams/failure.ts'
import { type Engine, openChannel, openTaskWire, POLL_ANSWER_MS } from '../engine.ts'
import type { ClaimedTask } from '../task.ts'
import { type EndedResponse, tooLarge } from './settle-response.ts'

/** What a vendor says of a response. `gone`: it knows none of this id. */
export type VendorResponseState =
  | { readonly state: 'queued' | 'processing' | 'gone' }
  | { readonly state: 'ended'; readonly ended: EndedResponse }

/** Throws an UpstreamFailure for what is no word about the response. */
export async function askVendor(
  engine: Engine,
  task: ClaimedTask,
  action: 'get' | 'cancel',
): Promise<VendorResponseState> {
  const { upstream, settings } = await openChannel(engine, task)
  const ask = engine.services.upstreams.get(upstream)?.stored
  if (!ask || task.upstream_id === null) throw new UpstreamFailure('channel_fault')
  const wire = openTaskWire(engine, task, engine.times.pollTimeoutMs, POLL_ANSWER_MS)
  const response = await ask(wire, settings, { action, id: task.upstream_id, query: '' })
  const { status, headers } = response
  if (status === 404) {
    await readErrorBody(response)
    return { state: 'gone' }
  }
  if (status >= 400) {
    await readErrorBody(response)
    const retryAfterSeconds = readRetryAfter(asString(headers['retry-after']))
    throw new UpstreamFailure(classifyStatus(status), { status, retryAfterSeconds })
  }
  const body = await readAtMost(response.body, engine.services.limits.answerBytesMax)
  return body ? readState(tryParseJson(body)) : { state: 'ended', ended: tooLarge(task) }
}

/** Reads a response object. Throws `failed` for a document that is none. */
export function readState(document: unknown): VendorResponseState {
  const status = readResponseStatus(document)
  if (status === undefined) throw new UpstreamFailure('failed', { message: 'no response object' })
  if (status === 'queued') return { state: 'queued' }
  if (status === 'in_progress') return { state: 'processing' }
  return { state: 'ended', ended: { status, document } }
}
