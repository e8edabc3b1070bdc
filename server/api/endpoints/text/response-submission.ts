/** Background responses: a call of POST /v1/responses that runs as a task. */

import type { JsonObject } from '../../../base/lib/json.ts'
import { encodeUnknownResponse } from '../../../wire/dialects/responses/encode-lost.ts'
import { spliceJson } from '../../../wire/dialects/splice.ts'
import type { Metering } from '../../../work/pipeline/metering.ts'
import type { BackgroundSubmission } from '../../../work/tasks/background/background-order.ts'
import type { TaskRow } from '../../../work/tasks/task.ts'
import { viewTask } from '../task-endpoints.ts'
import { encodeWebhook } from '../task-view.ts'

const KEPT = ['stream', 'store', 'max_output_tokens']

function encodeOwn(row: TaskRow): JsonObject {
  const { nativeId: id, model, state, createdAt } = viewTask(row)
  return encodeUnknownResponse({
    id,
    model,
    state: state === 'failed' ? 'failed' : 'queued',
    message: row.error_message,
    createdAt,
  })
}

function encodeEnd(row: TaskRow): JsonObject {
  const task = viewTask(row)
  const outcome = { response_status: task.result.status }
  return encodeWebhook(task, { id: task.nativeId, kind: 'response', outcome })
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
    webhookBody: encodeEnd,
  }
}
