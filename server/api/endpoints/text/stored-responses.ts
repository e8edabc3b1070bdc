/** Stored responses: lets their owner read, stream, cancel and delete them at the vendor. */
import { z } from 'zod'
import type { Context } from '../../../base/http/context.ts'
import { sendBytes, sendJson } from '../../../base/http/reply.ts'
import { GatewayError, invalidField } from '../../../base/lib/errors.ts'
import { tryParseJson } from '../../../base/lib/json.ts'
import type { Caller } from '../../../money/accounts/accounts.ts'
import { hideInBody } from '../../../wire/dialects/hide-error.ts'
import type { StoredAction, StoredRequest } from '../../../wire/upstreams/upstream.ts'
import {
  findStoredPlace,
  type StoredPlace,
  type StoredReply,
  sendStoredRequest,
  streamStoredAnswer,
} from '../../../work/pipeline/stored-requests.ts'
import { isTerminal, type TaskRow } from '../../../work/tasks/task.ts'
import type { AccountEndpoint, PlainServices } from '../endpoint.ts'
import { onEveryPrefix } from '../native-prefixes.ts'

const response = z.looseObject({ id: z.string(), object: z.string() })
const STARTING_AFTER = /^\d{1,9}$/

/**
 * A stored response of the caller, with its channel, and its task if it was created in the
 * background.
 */
interface Target {
  readonly id: string
  readonly place: StoredPlace
  readonly task: TaskRow | undefined
}

type Handle = (
  context: Context,
  caller: Caller,
  services: PlainServices,
  target: Target,
) => Promise<void>

/**
 * Returns the response to request from the vendor, or undefined if it was answered here. Throws 404
 * for an id that is not this account's.
 */
async function findTarget(
  context: Context,
  { accountId }: Caller,
  services: PlainServices,
): Promise<Target | undefined> {
  const { background } = services.tasks
  const id = context.params.response_id ?? ''
  const task = await background.find(accountId, id)
  if (!task) return { id, place: await findStoredPlace(accountId, id, services), task }
  context.facts.model = task.model
  const own = background.ownObject(task)
  if (own !== undefined) {
    await answerOwn(context, services, task, own)
    return undefined
  }
  const model = services.catalog.snapshot().models.get(task.model)
  const place = { channel: await background.channelOf(task), model }
  return { id: task.upstream_id ?? id, place, task }
}

/** Shows or deletes a response that the vendor cannot: its task is the only record. */
async function answerOwn(
  context: Context,
  services: PlainServices,
  task: TaskRow,
  own: unknown,
): Promise<void> {
  if (context.request.method !== 'DELETE') {
    sendJson(context, 200, own)
    return
  }
  if (!isTerminal(task.state)) throw stillInProgress()
  await services.tasks.hide(task)
  const id = context.params.response_id
  sendJson(context, 200, { id, object: 'response', deleted: true })
}

function stillInProgress(): GatewayError {
  return new GatewayError('conflict', {
    message: 'this response is still in progress: cancel it first',
    code: 'response_not_ended',
  })
}

function requestOf(context: Context, { id }: Target, action: StoredAction): StoredRequest {
  return { action, id, query: context.query.toString() }
}

function send(context: Context, { status, contentType, body }: StoredReply): void {
  const headers = { 'content-type': contentType, ...(status < 400 ? {} : FINAL) }
  sendBytes(context, status, headers, hideInBody(body))
}

/** Stops SDKs from retrying a 409: the vendor's answer is final. */
const FINAL = { 'x-should-retry': 'false' }

const get: Handle = async (context, caller, services, target) => {
  if (context.query.get('stream') === 'true') return follow(context, caller, services, target)
  const request = requestOf(context, target, 'get')
  const reply = await sendStoredRequest(context, caller, target.place, request, services)
  await settleBy(services, target, reply)
  send(context, reply)
}

/** Streams the events of a response; only background responses have events to read again. */
const follow: Handle = async (context, caller, services, target) => {
  const { task, place } = target
  if (!task) throw invalidField('stream', 'only for responses created with background: true')
  const after = context.query.get('starting_after')
  if (after !== null && !STARTING_AFTER.test(after)) {
    throw invalidField('starting_after', 'the sequence_number of an event')
  }
  const request = requestOf(context, target, 'get')
  const { background } = services.tasks
  const reply = await streamStoredAnswer(context, caller, place, request, services, {
    relay: await background.watch(task),
    deliver: (answer) => background.follow(context, answer, task, after !== null),
  })
  if (reply) send(context, reply)
}

const cancel: Handle = async (context, caller, services, target) => {
  const request = requestOf(context, target, 'cancel')
  const reply = await sendStoredRequest(context, caller, target.place, request, services)
  await settleBy(services, target, reply)
  send(context, reply)
}

const listItems: Handle = async (context, caller, services, target) => {
  const request = requestOf(context, target, 'items')
  send(context, await sendStoredRequest(context, caller, target.place, request, services))
}

/** Reads an unsettled response once more before deleting it, since that deletes its usage too. */
const remove: Handle = async (context, caller, services, target) => {
  const { task, place, id } = target
  const isOpen = task && !isTerminal(task.state)
  const now = isOpen ? await services.tasks.background.refresh(task) : task
  if (now && !isTerminal(now.state)) throw stillInProgress()
  const request = requestOf(context, target, 'delete')
  const reply = await sendStoredRequest(context, caller, place, request, services)
  if (reply.status === 200) {
    await services.storedAnswers.forget(caller.accountId, id)
    if (now) await services.tasks.hide(now)
  }
  send(context, reply)
}

/** Settles the task if this read is the first to see its end: it may precede the worker's poll. */
async function settleBy(
  { tasks }: PlainServices,
  { task }: Target,
  { status, body }: StoredReply,
): Promise<void> {
  if (task && status === 200) await tasks.background.read(task, tryParseJson(body))
}

const QUERY = z.object({
  stream: z.enum(['true', 'false']).optional().describe('For background responses only.'),
  starting_after: z.string().optional().describe('With stream: events after this number.'),
})

function declare(
  method: 'GET' | 'DELETE' | 'POST',
  path: string,
  handle: Handle,
  documentation: Omit<AccountEndpoint['documentation'], 'tag' | 'example' | 'errors'>,
): AccountEndpoint {
  return {
    kind: 'account',
    method,
    paths: onEveryPrefix(path),
    envelope: 'nested',
    documentation: {
      ...documentation,
      tag: 'Text',
      example: () => ({ path: `/v1${path.replace(':response_id', 'resp_9Wd3')}` }),
      errors: [400, 404, 409, 429, 502, 503],
    },
    async handle(context, caller, services) {
      const target = await findTarget(context, caller, services)
      if (target) await handle(context, caller, services, target)
    },
  }
}

export const getResponse = declare('GET', '/responses/:response_id', get, {
  summary: 'Get a stored response',
  description:
    'Free of charge. A background response is settled at the latest when it is read after its ' +
    'end. With `stream=true` its events are sent, past and live.',
  query: QUERY,
  answer: response,
  stream: { type: 'text/event-stream', description: 'typed events of a response.' },
})

export const listInputItems = declare('GET', '/responses/:response_id/input_items', listItems, {
  summary: 'List the input items of a stored response',
  description: 'Free of charge. The items as the vendor keeps them.',
  answer: z.looseObject({ object: z.string(), data: z.array(z.looseObject({})) }),
})

export const cancelResponse = declare('POST', '/responses/:response_id/cancel', cancel, {
  summary: 'Cancel a background response',
  description:
    'Idempotent. The tokens that the vendor states are charged; if it states none, the ' +
    'output that streams delivered; otherwise nothing.',
  answer: response,
})

export const deleteResponse = declare('DELETE', '/responses/:response_id', remove, {
  summary: 'Delete a stored response',
  description: 'A response still in progress gets 409: cancel it first.',
  answer: response,
})
