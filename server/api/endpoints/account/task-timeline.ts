/** GET /v1/tasks/{id}/timeline: the events of a task of any kind. */
import { z } from 'zod'
import { sendJson } from '../../../base/http/reply.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import type { TaskEvent } from '../../../work/tasks/task.ts'
import { encode, time } from '../codecs.ts'
import type { AccountEndpoint } from '../endpoint.ts'

const TASK_ID = 'task_3vQx8LmTz0bWkYc5RfNj7H'

export const timelineEvent = z.looseObject({ at: time, event: z.string() })

/** Returns the events without the parts that callers must not see. */
export function showTimeline(events: readonly TaskEvent[]) {
  return events.map(({ at, kind, detail }) => {
    // Our accounts at vendors are not shown to callers.
    const { channel: _channel, ...shown } = detail
    return { at, event: kind, ...shown }
  })
}

const timeline = z.object({
  id: z.string(),
  kind: z.string(),
  model: z.string(),
  status: z.string(),
  events: z.array(timelineEvent),
})

export const taskTimeline: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: ['/v1/tasks/:task_id/timeline'],
  envelope: 'flat',
  documentation: {
    summary: 'Get the timeline of a task',
    description:
      'The events of the task in order: hold, submission, vendor callbacks, state ' +
      'changes, settlement or release, and every webhook attempt.',
    tag: 'Tasks',
    answer: timeline,
    example: () => ({
      path: `/v1/tasks/${TASK_ID}/timeline`,
      answer: {
        id: TASK_ID,
        kind: 'video',
        model: 'a-video-model',
        status: 'succeeded',
        events: [
          { at: '2026-11-21T09:30:00.002Z', event: 'held', amount: '5.0094' },
          { at: '2026-11-21T09:30:00.310Z', event: 'submitted' },
          { at: '2026-11-21T09:30:06.120Z', event: 'processing' },
          { at: '2026-11-21T09:31:24.000Z', event: 'succeeded' },
          { at: '2026-11-21T09:31:24.001Z', event: 'settled', charged: '5.0094', basis: 'usage' },
        ],
      },
    }),
    errors: [403, 404, 503],
  },
  async handle(context, caller, { tasks }) {
    const task = await tasks.find(caller.accountId, context.params.task_id ?? '')
    if (!task) throw new GatewayError('not_found', { message: 'no such task' })
    const events = await tasks.timeline(task)
    const status = task.state === 'submitting' ? 'queued' : task.state
    const shown = encode(timeline, { ...task, status, events: showTimeline(events) })
    sendJson(context, 200, shown)
  },
}
