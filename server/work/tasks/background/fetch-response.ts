/** Fetches or cancels a background response at its vendor. */

import { asString, member, tryParseJson } from '../../../base/lib/json.ts'
import { readResponseStatus } from '../../../wire/dialects/responses/read-status.ts'
import {
  classifyStatus,
  readErrorBody,
  readRetryAfter,
  UpstreamFailure,
} from '../../../wire/upstreams/failure.ts'
import { isUnknownTask } from '../../../wire/upstreams/task-answer.ts'
import { readAtMost } from '../../pipeline/answer/read-at-most.ts'
import { openRoom } from '../../pipeline/answer/receive-whole.ts'
import { type Engine, openChannel, openTaskWire, POLL_TOTAL_MS, refuseOther } from '../engine.ts'
import type { ClaimedTask } from '../task.ts'
import { type EndedResponse, tooLarge } from './settle-response.ts'

/** The vendor's state of a response. `gone`: the vendor does not know the id. */
export type VendorResponseState =
  | { readonly state: 'queued' | 'processing' | 'gone' }
  | { readonly state: 'ended'; readonly ended: EndedResponse }

/** Queries the vendor. Rejects with UpstreamFailure if the answer states no response. */
export async function askVendor(
  engine: Engine,
  task: ClaimedTask,
  action: 'get' | 'cancel',
): Promise<VendorResponseState> {
  const { upstream, settings } = await openChannel(engine, task)
  const request = engine.services.upstreams.get(upstream)?.stored
  if (!request || task.upstream_id === null) throw new UpstreamFailure('channel_fault')
  const wire = openTaskWire(engine, task, engine.times.pollTimeoutMs, POLL_TOTAL_MS)
  const response = await request(wire, settings, { action, id: task.upstream_id, query: '' })
  const { status, headers } = response
  if (await isUnknownTask(response)) return { state: 'gone' }
  if (status >= 400) {
    await readErrorBody(response)
    const retryAfterSeconds = readRetryAfter(headers)
    throw new UpstreamFailure(classifyStatus(status), { status, retryAfterSeconds })
  }
  const room = openRoom(engine.services, task.account_id)
  try {
    const body = await readAtMost(response.body, room)
    if (!body) return { state: 'ended', ended: tooLarge(task) }
    const document = tryParseJson(body)
    await refuseOther(engine, task, asString(member(document, 'id')))
    return readState(document)
  } finally {
    room.release()
  }
}

/** Reads a response object. Throws `failed` for any other document. */
export function readState(document: unknown): VendorResponseState {
  const status = readResponseStatus(document)
  if (status === undefined) throw new UpstreamFailure('failed', { message: 'no response object' })
  if (status === 'queued') return { state: 'queued' }
  if (status === 'in_progress') return { state: 'processing' }
  return { state: 'ended', ended: { status, document } }
}
