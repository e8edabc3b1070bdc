/** The endpoints of one kind of task: POST creates it, GET returns its record. */
import { type ZodObject, z } from 'zod'
import type { Context } from '../../base/http/context.ts'
import type { Envelope } from '../../base/http/envelope.ts'
import { sendJson } from '../../base/http/reply.ts'
import { GatewayError } from '../../base/lib/errors.ts'
import type { JsonObject } from '../../base/lib/json.ts'
import type { TaskKind } from '../../base/lib/kinds-and-states.ts'
import type { Caller } from '../../money/accounts/accounts.ts'
import type { TaskSubmission } from '../../work/tasks/submission.ts'
import type { TaskRow } from '../../work/tasks/task.ts'
import {
  type AccountEndpoint,
  type Documentation,
  endpointNameOf,
  type PlainServices,
  RECORD_ERRORS,
  type TaskEndpoint,
} from './endpoint.ts'
import type { TaskView } from './task-view.ts'

/** The schemas of what `encodeCharge` adds to a record. */
export const TASK_CHARGE = {
  charged: z.string().optional().describe('The charge, as the usage record has it, at its end.'),
  currency: z.string().optional(),
}

/** The schemas of what `encodeEnding` adds to a record. */
export const TASK_ENDING = {
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  callback: z.object({ status: z.string(), attempts: z.int() }).optional(),
  finished_at: z.iso.datetime().optional(),
  ...TASK_CHARGE,
}

/** The reader of this kind's requests; their tokens are counted only where tokens are billed. */
export type TaskReading = Omit<
  TaskSubmission,
  'endpoint' | 'streams' | 'inputTokens' | 'answer' | 'webhookBody'
> &
  Partial<Pick<TaskSubmission, 'inputTokens'>>

export interface TaskDeclaration<Created extends ZodObject, Record extends ZodObject> {
  /** The first is the canonical one; without the version it is the name in usage records. */
  readonly paths: readonly [string, ...string[]]
  readonly envelope?: Envelope
  readonly sites?: readonly string[]
  readonly tag: string
  readonly reading: TaskReading
  /**
   * The answer to the creation and the later state of the task; with `callback`, also the webhook.
   */
  readonly created: Created
  readonly record: Record
  readonly encodeCreated: (task: TaskView) => JsonObject
  readonly encodeRecord: (task: TaskView) => JsonObject
  readonly encodeWebhook: (task: TaskView) => JsonObject
  /** True if results contain links. The library replaces them once it has copied the content. */
  readonly hasMedia: boolean
  readonly create: Described &
    Required<Pick<Documentation, 'example'>> &
    Pick<Documentation, 'errors'>
  readonly get: Described & { readonly example: z.input<Record> & { readonly id: string } }
}

type Described = Required<Pick<Documentation, 'summary' | 'description'>>

export function taskEndpoints<Created extends ZodObject, Record extends ZodObject>(
  declared: TaskDeclaration<Created, Record>,
): { readonly create: TaskEndpoint; readonly get: AccountEndpoint } {
  const { paths, envelope = 'flat', sites, tag, reading, record, create, get } = declared
  const [path] = paths
  const shared = { envelope, ...(sites ? { sites } : {}) }
  const showsCallback = Object.hasOwn(record.shape, 'callback')
  const submission: TaskSubmission = {
    inputTokens: () => 0,
    ...reading,
    endpoint: endpointNameOf(path),
    streams: () => false,
    answer: (row) => declared.encodeCreated(viewTask(row)),
    webhookBody: (row) => declared.encodeWebhook(viewTask(row)),
  }
  return {
    create: {
      kind: 'task',
      method: 'POST',
      paths,
      ...shared,
      submission,
      documentation: { ...create, tag, answer: declared.created },
    },
    get: {
      kind: 'account',
      method: 'GET',
      paths: taskPaths(paths),
      ...shared,
      documentation: {
        ...get,
        tag,
        answer: record,
        example: () => ({ path: `${path}/${get.example.id}`, answer: get.example }),
        errors: RECORD_ERRORS,
      },
      async handle(context, caller, services) {
        const row = await findOwnTask(context, caller, services, reading.kind)
        const [shown = row] = declared.hasMedia ? await services.library.withOwnLinks([row]) : [row]
        const callback = showsCallback ? await services.tasks.delivery(row) : undefined
        const task = viewTask(shown, { callback, askedId: context.params.task_id })
        sendJson(context, 200, declared.encodeRecord(task))
      },
    },
  }
}

/** Returns the paths of one task, below those where tasks are created. */
export function taskPaths([first, ...others]: readonly [string, ...string[]]) {
  return [`${first}/:task_id`, ...others.map((path) => `${path}/:task_id`)] as const
}

/** Returns the caller's task by either id. Rejects with 404 for foreign and unknown ids. */
export async function findOwnTask(
  { params }: Context,
  caller: Caller,
  { tasks }: PlainServices,
  kind: TaskKind,
): Promise<TaskRow> {
  const row = await tasks.find(caller.accountId, params.task_id ?? '', kind)
  if (!row) throw new GatewayError('not_found', { message: 'no such task' })
  return row
}

/**
 * Returns the view of a row. `askedId` is the id in the path: a task whose creation returned the
 * gateway's id can be read by the vendor's id as well.
 */
export function viewTask(
  row: TaskRow,
  known: {
    readonly callback?: TaskView['callback']
    readonly askedId?: string | undefined
  } = {},
): TaskView {
  const { upstream_id: upstreamId, answer_lost: isLost, error_code: code } = row
  const isVendors = upstreamId !== null && (!isLost || upstreamId === known.askedId)
  return {
    id: row.id,
    upstreamId,
    nativeId: isVendors ? upstreamId : row.id,
    requestId: row.request_id,
    model: row.model,
    state: row.state === 'submitting' ? 'queued' : row.state,
    error: code === null ? undefined : { code, message: row.error_message ?? 'the task failed' },
    request: row.request,
    result: row.result ?? {},
    callback: known.callback,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    finishedAt: row.finished_at ?? undefined,
    charge: row.charge ?? undefined,
  }
}
