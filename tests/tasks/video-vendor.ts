/**
 * A tiny video vendor for tests of the task engine: its own book of what it took, states that a
 * test moves by hand, and the ways in which an answer can be lost.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { drip } from '../support/servers/drip.ts'
import { startServer } from '../support/servers/local-server.ts'

export interface VendorTask {
  readonly id: string
  readonly model: string
  readonly body: Readonly<Record<string, unknown>>
  readonly createdAt: number
  status: string
  usage: unknown
  error: { code: string; message: string } | null
  extra: Readonly<Record<string, unknown>>
}

export interface VideoVendor {
  readonly url: string
  readonly tasks: Map<string, VendorTask>
  readonly requests: string[]
  /** Answers the next requests of a method with a status and body instead. */
  fail(method: string, status: number, code: string, times?: number, retryAfter?: string): void
  /** Takes the next creations and answers none: they end together, when the last has come. */
  loseAnswers(times: number): void
  /** What a new task becomes at once. */
  begin: string
  /** Whether it can be asked for all tasks; for tests of what is left without that. */
  lists: boolean
  /** Called with each new task before its creation is answered. */
  onTask: ((task: VendorTask) => Promise<void>) | undefined
  /** Called between the poll of a task and the answer to it. */
  onPoll: ((task: VendorTask) => Promise<void>) | undefined
  /** Each poll moves every task one state on: queued, running, succeeded. */
  advance: boolean
  /** The id of the next new task, whether another has it or not. */
  nextId: string | undefined
  /** While true, polls of a task are answered with blanks only; then with the task. */
  holdsPolls: boolean
  cutConnections(): void
  stop(): Promise<void>
}

interface Fault {
  readonly method: string
  readonly status: number
  readonly code: string
  readonly retryAfter: string | undefined
  times: number
}

const NEXT: Readonly<Record<string, string>> = { queued: 'running', running: 'succeeded' }
const BLANK_MS = 50
const PATH = '/api/v3/contents/generations/tasks'

interface State {
  readonly tasks: Map<string, VendorTask>
  readonly requests: string[]
  readonly faults: Fault[]
  begin: string
  advance: boolean
  nextId: string | undefined
  holdsPolls: boolean
  lists: boolean
  onTask: ((task: VendorTask) => Promise<void>) | undefined
  onPoll: ((task: VendorTask) => Promise<void>) | undefined
  lose: number
  readonly losing: IncomingMessage[]
  count: number
}

export async function startVideoVendor(): Promise<VideoVendor> {
  const state: State = {
    tasks: new Map(),
    requests: [],
    faults: [],
    begin: 'queued',
    advance: false,
    lists: true,
    onTask: undefined,
    onPoll: undefined,
    nextId: undefined,
    holdsPolls: false,
    lose: 0,
    losing: [],
    count: 0,
  }
  const server = await startServer((request, response) => handle(state, request, response))
  return Object.assign(state, {
    url: `${server.url}/api/v3`,
    fail(method: string, status: number, code: string, times = 1, retryAfter?: string) {
      state.faults.push({ method, status, code, times, retryAfter })
    },
    loseAnswers(times: number) {
      state.lose += times
    },
    cutConnections: () => server.server.closeAllConnections(),
    stop: server.stop,
  })
}

async function handle(
  state: State,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = '', url = '' } = request
  state.requests.push(`${method} ${url}`)
  const fault = state.faults.find((one) => one.method === method && one.times > 0)
  if (fault) {
    fault.times -= 1
    await readText(request)
    if (fault.retryAfter) response.setHeader('retry-after', fault.retryAfter)
    refuse(response, fault.status, fault.code)
    return
  }
  const path = new URL(url, 'http://vendor').pathname
  const id = decodeURIComponent(path.slice(PATH.length + 1))
  if (method === 'POST') await create(state, request, response)
  else if (method === 'DELETE') remove(state, response, id)
  else if (id !== '') await answerPoll(state, response, id)
  else if (!state.lists) refuse(response, 404, 'NotFound')
  else list(state, response, new URL(url, 'http://vendor').searchParams.get('filter.model'))
}

function list(state: State, response: ServerResponse, model: string | null): void {
  const listed = [...state.tasks.values()].filter((one) => model === null || one.model === model)
  const items = listed.reverse().map(show)
  send(response, 200, { items, total: items.length })
}

async function create(
  state: State,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = JSON.parse(await readText(request))
  if (JSON.stringify(body).includes('[[fault:')) {
    refuse(response, 503, 'ServerOverloaded')
    return
  }
  state.count += 1
  const id = state.nextId ?? `cgt-20261121-${process.pid}-${String(state.count).padStart(5, '0')}`
  state.nextId = undefined
  const task: VendorTask = {
    id,
    model: body.model,
    body,
    createdAt: Math.floor(Date.now() / 1000),
    status: state.begin,
    error: null,
    extra: {},
    usage: { completion_tokens: 108_900, total_tokens: 108_900 },
  }
  state.tasks.set(id, task)
  await state.onTask?.(task)
  if (state.lose > 0) {
    state.losing.push(request)
    if (state.losing.length < state.lose) return
    for (const { socket } of state.losing.splice(0)) socket.destroy()
    state.lose = 0
    return
  }
  send(response, 200, { id })
}

async function answerPoll(state: State, response: ServerResponse, id: string): Promise<void> {
  const task = state.tasks.get(id)
  if (!task) {
    refuse(response, 404, 'ResourceNotFound')
    return
  }
  const shown = show(task)
  await state.onPoll?.(task)
  if (state.holdsPolls) await sendBlanks(state, response)
  send(response, 200, shown)
  if (state.advance) task.status = NEXT[task.status] ?? task.status
}

function remove(state: State, response: ServerResponse, id: string): void {
  const task = state.tasks.get(id)
  if (!task) refuse(response, 404, 'ResourceNotFound')
  else if (task.status === 'running') refuse(response, 409, 'InvalidAction.RunningTaskDeletion')
  else {
    if (task.status === 'queued') task.status = 'cancelled'
    else state.tasks.delete(id)
    send(response, 200, {})
  }
}

function show(task: VendorTask): object {
  const done = task.status === 'succeeded'
  const { id, model, status, error, createdAt, usage, extra } = task
  return {
    id,
    model,
    status,
    error,
    created_at: createdAt,
    updated_at: createdAt,
    ...(done ? { content: { video_url: `https://media.example/${id}.mp4` } } : {}),
    ...(done && usage !== undefined ? { usage } : {}),
    ...(done ? { resolution: '720p', ratio: '16:9', duration: 5, seed: 7 } : {}),
    ...extra,
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** Blanks before a document, so that nobody takes it for silence. */
async function sendBlanks(state: State, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' })
  await drip(response, BLANK_MS, () => (state.holdsPolls ? ' ' : undefined))
}

function send(response: ServerResponse, status: number, body: unknown): void {
  if (!response.headersSent) response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

/** Without a code it is the page of a proxy. */
function refuse(response: ServerResponse, status: number, code: string): void {
  if (code === '') {
    response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>')
    return
  }
  const message = `The request was refused: ${code}. Request id: 0217abc`
  send(response, status, { error: { code, message, type: 'BadRequest' } })
}
