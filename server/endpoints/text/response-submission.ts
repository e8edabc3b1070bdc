/** Background responses: a call of POST /v1/responses that runs as a task. */
import { encodeUnknownResponse } from '../../dialects/responses/encode-lost.ts'
import { spliceJson } from '../../dialects/splice.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Metering } from '../../pipeline/metering.ts'
import type { BackgroundSubmission } from '../../tasks/background/background-order.ts'
import type { TaskRow } from '../../tasks/task.ts'

const KEPT = ['stream', 'store', 'max_output_tokens']

/** Returns the id in the answer of the creation: the vendor's, or ours if its answer was lost. */
function idOf({ id, answer_lost: isLost, upstream_id: upstreamId }: TaskRow): string {
  return isLost ? id : (upstreamId ?? id)
}

function encodeOwn(row: TaskRow): JsonObject {
  return encodeUnknownResponse({
    id: idOf(row),
    model: row.model,
    state: row.state === 'failed' ? 'failed' : 'queued',
    message: row.error_message,
    createdAt: row.created_at,
  })
}

function encodeCallback(row: TaskRow): JsonObject {
  const { state, model, error_message: message, created_at: createdAt } = row
  const outcome =
    state === 'succeeded'
      ? { response_status: row.result?.status }
      : { error: { code: 'task_failed', message: message ?? 'the task failed' } }
  return {
    task_id: idOf(row),
    kind: 'response',
    status: state,
    model,
    ...outcome,
    created_at: createdAt.toISOString(),
    finished_at: (row.finished_at ?? row.updated_at).toISOString(),
  }
}

/** `metering` is that of the foreground call: both are quoted and charged in the same way. */
export function backgroundOf(metering: Metering): BackgroundSubmission {
  return {
    ...metering,
    kind: 'response',
    parameters: (value) => value,
    keep: (value) => Object.fromEntries(KEPT.map((name) => [name, value[name]])),
    urls: () => [],
    background: {
      metering,
      isRequested: ({ background }) => background === true,
      body: ({ body, fields }) => spliceJson(body, fields, { remove: ['callback_url'] }),
    },
    answer: encodeOwn,
    webhookBody: encodeCallback,
  }
}
