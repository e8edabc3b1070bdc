/**
 * Several vendors in one, with different ways to find a lost submission: three have a list, one has
 * nothing, two can be queried by the client's own id, two call back. The text of a creation
 * decides its fate; the book records the accepted tasks, which are billed.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * lose: accepted, the connection is cut. hang: accepted and never answered. ignore: cut, and not
 * accepted. kill: accepted, and the gateway that sent it is killed before the answer.
 */
export type Fate = 'answer' | 'lose' | 'hang' | 'ignore' | 'kill'

export interface AcceptedTask {
  readonly id: string
  readonly text: string
  readonly model: string
  readonly atMs: number
  readonly fails: boolean
  /** The time at which a gateway accepted a callback about it; undefined if none has. */
  calledBackMs?: number
}

export interface SubmissionVendor {
  readonly url: string
  readonly accepted: readonly AcceptedTask[]
  stop(): Promise<void>
}

export interface SubmissionVendorOptions {
  readonly fateOf: (text: string) => Fate
  readonly failsOf: (text: string) => boolean
  /** Kills the gateway that sends this text now, and resolves once it has exited. */
  readonly kill: (text: string) => Promise<void>
  /** Sends a callback to any gateway; resolves to false if none accepted it. */
  readonly callBack: (path: string, body: object) => Promise<boolean>
}

const LASTS_MS = 400
/** Vendors repeat a callback for an hour; all gateways may be down for some seconds. */
const RETRY_MS = 1_000
const ATTEMPTS_MAX = 60
const ARK = '/ark/api/v3/contents/generations/tasks'
const MINIMAX_CREATE = '/minimax/v2/video_generation'
const MINIMAX_QUERY = '/minimax/v2/query/video_generation/'
const DASHSCOPE = '/dashscope/api/v1/'
const KLING = '/kling/'
const FAL = '/fal/owner/films'
const REPLICATE = '/replicate/v1/'
const RECOGNITION = '/recognition/api/v3/auc/bigmodel/'
const TOKENS = 108_900

interface State extends SubmissionVendorOptions {
  readonly accepted: AcceptedTask[]
  readonly byId: Map<string, AcceptedTask>
  /** The vendor's ids by the client's. */
  readonly ids: Map<string, string>
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
  readonly json: CreationBody
}

/** The body of creations in all protocols. */
interface CreationBody {
  readonly prompt?: string
  readonly input?: { readonly prompt?: string }
  readonly options?: { readonly external_task_id?: string }
  readonly model?: string
  readonly content?: readonly { readonly text?: string }[]
  readonly audio?: { readonly url?: string }
  readonly callback_url?: string
}

export async function startSubmissionVendor(
  options: SubmissionVendorOptions,
): Promise<SubmissionVendor> {
  const state: State = { ...options, accepted: [], byId: new Map(), ids: new Map() }
  const server = createServer((request, response) => {
    handle(state, request, response).catch(() => request.socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    accepted: state.accepted,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function handle(state: State, request: IncomingMessage, response: ServerResponse) {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString('utf8')
  const url = new URL(request.url ?? '', 'http://vendor')
  const json = body === '' ? {} : JSON.parse(body)
  const exchange: Exchange = { request, response, url, json }
  const { pathname } = url
  if (pathname.startsWith(RECOGNITION)) return handleRecognition(state, exchange)
  if (pathname.startsWith(DASHSCOPE)) return handleDashscope(state, exchange)
  if (pathname.startsWith(KLING)) return handleKling(state, exchange)
  if (pathname.startsWith(FAL)) return handleFal(state, exchange)
  if (pathname.startsWith(REPLICATE)) return handleReplicate(state, exchange)
  if (pathname === MINIMAX_CREATE) return create(state, exchange, (id) => ({ task_id: id }))
  if (pathname.startsWith(MINIMAX_QUERY)) {
    const task = state.byId.get(pathname.slice(MINIMAX_QUERY.length))
    return send(response, task ? 200 : 404, task ? { task: showMinimax(task) } : {})
  }
  if (request.method === 'POST') return create(state, exchange, (id) => ({ id }))
  return handleArk(state, exchange)
}

async function create(
  state: State,
  exchange: Exchange,
  answer: (id: string) => object,
  ofPath?: string,
) {
  const { content, prompt, input, model = ofPath ?? '' } = exchange.json
  const text = content?.[0]?.text ?? input?.prompt ?? prompt ?? ''
  const id = `lost-${state.accepted.length}-${Date.now()}`
  if (await accept(state, exchange, { id, text, model })) {
    send(exchange.response, 200, answer(id))
  }
}

/** Resolves to true if the creation must be answered. */
async function accept(
  state: State,
  { request, json, url }: Exchange,
  { id, text, model }: Pick<AcceptedTask, 'id' | 'text' | 'model'>,
): Promise<boolean> {
  const fate = state.fateOf(text)
  if (fate !== 'ignore') {
    const task = { id, text, model, atMs: Date.now(), fails: state.failsOf(text) }
    state.accepted.push(task)
    state.byId.set(id, task)
    if (json.options?.external_task_id) state.ids.set(json.options.external_task_id, id)
    const hook = json.callback_url ?? url.searchParams.get('fal_webhook')
    if (hook) void callBackTwice(state, task, new URL(hook).pathname)
  }
  if (fate === 'kill') await state.kill(text)
  if (fate === 'hang') return false
  if (fate !== 'answer') request.socket.destroy()
  return fate === 'answer'
}

/** Calls back at the beginning and at the end, each time until a gateway accepts it. */
async function callBackTwice(state: State, task: AcceptedTask, path: string): Promise<void> {
  for (const afterMs of [0, LASTS_MS]) {
    await sleep(afterMs)
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      if (await state.callBack(path, { task: showMinimax(task), request_id: task.id })) {
        task.calledBackMs ??= Date.now()
        break
      }
      await sleep(RETRY_MS)
    }
  }
}

function handleArk({ accepted, byId }: State, { response, url }: Exchange) {
  const id = decodeURIComponent(url.pathname.slice(ARK.length + 1))
  if (id !== '') {
    const task = byId.get(id)
    const missing = { error: { code: 'ResourceNotFound', message: 'no such task' } }
    return send(response, task ? 200 : 404, task ? showArk(task) : missing)
  }
  const model = url.searchParams.get('filter.model')
  const all = accepted.filter((one) => model === null || one.model === model).reverse()
  const page = Number(url.searchParams.get('page_num') ?? 1)
  const size = Number(url.searchParams.get('page_size') ?? 20)
  const items = all.slice((page - 1) * size, page * size).map(showArk)
  send(response, 200, { items, total: all.length })
}

function handleDashscope(state: State, exchange: Exchange): Promise<void> | void {
  const { request, response, url } = exchange
  if (request.method === 'POST') {
    return create(state, exchange, (id) => ({ output: { task_id: id, task_status: 'PENDING' } }))
  }
  const id = url.pathname.slice(`${DASHSCOPE}tasks/`.length)
  if (id !== '') {
    const task = state.byId.get(decodeURIComponent(id))
    return send(response, 200, task ? showDashscope(task) : { output: { task_status: 'UNKNOWN' } })
  }
  const model = url.searchParams.get('model_name')
  const found = state.accepted.filter((one) => one.model === model)
  const data = found.map((one) => ({ task_id: one.id, gmt_create: one.atMs }))
  send(response, 200, { data, total_page: 1 })
}

function handleKling(state: State, exchange: Exchange): Promise<void> | void {
  const { request, response, url, json } = exchange
  const { byId } = state
  if (request.method === 'POST') {
    return create(state, exchange, (id) => {
      return { code: 0, data: { id, external_id: json.options?.external_task_id } }
    })
  }
  const own = url.searchParams.get('external_task_ids')
  const id = own === null ? (url.searchParams.get('task_ids') ?? '') : (state.ids.get(own) ?? '')
  const task = byId.get(id)
  send(response, 200, { code: 0, data: task ? [showKling(task)] : [] })
}

/** Status and result are below the task; a failed one has completed, and its result is an error. */
function handleFal(state: State, exchange: Exchange): Promise<void> | void {
  const { request, response, url } = exchange
  if (request.method === 'POST') return create(state, exchange, (id) => ({ request_id: id }))
  const [, , , , , id = '', part] = url.pathname.split('/')
  const task = state.byId.get(id)
  if (!task) return send(response, 404, { detail: 'no such request' })
  if (part === 'status')
    return send(response, 200, { status: isOver(task) ? 'COMPLETED' : 'IN_PROGRESS' })
  if (task.fails) return send(response, 422, { detail: 'failed' })
  send(response, 200, { video: { url: `https://media.example/${id}.mp4` } })
}

function handleReplicate(state: State, exchange: Exchange): Promise<void> | void {
  const { request, response, url } = exchange
  const parts = url.pathname.slice(REPLICATE.length).split('/')
  if (request.method === 'POST') {
    return create(state, exchange, (id) => ({ id }), parts.slice(1, 3).join('/'))
  }
  const [, id] = parts
  if (id === undefined) {
    const results = state.accepted.toReversed().slice(0, 100).map(showReplicate)
    return send(response, 200, { next: null, results })
  }
  const task = state.byId.get(id)
  return send(response, task ? 200 : 404, task ? showReplicate(task) : { detail: 'not found' })
}

async function handleRecognition(state: State, exchange: Exchange) {
  const { request, response, url, json } = exchange
  const id = String(request.headers['x-api-request-id'])
  if (url.pathname.endsWith('/submit')) {
    const text = new URL(json.audio?.url ?? '').pathname.slice(1).replace('.mp3', '')
    const model = String(request.headers['x-api-resource-id'])
    if (await accept(state, exchange, { id, text, model })) answerRecognition(response, 20000000)
    return
  }
  const task = state.byId.get(id)
  if (!task) return answerRecognition(response, 45000001)
  if (!isOver(task)) return answerRecognition(response, 20000001)
  if (task.fails) return answerRecognition(response, 45000151)
  answerRecognition(response, 20000000, {
    audio_info: { duration: 4820 },
    result: { text: '你好', utterances: [] },
  })
}

function answerRecognition(response: ServerResponse, code: number, body: object = {}): void {
  response.setHeader('x-api-status-code', String(code))
  send(response, 200, body)
}

const isOver = ({ atMs }: AcceptedTask) => Date.now() >= atMs + LASTS_MS

function statusOf(task: AcceptedTask): string {
  if (!isOver(task)) return 'running'
  return task.fails ? 'failed' : 'succeeded'
}

function showArk(task: AcceptedTask): object {
  const status = statusOf(task)
  const usage = { completion_tokens: TOKENS, total_tokens: TOKENS }
  const done = { content: { video_url: `https://media.example/${task.id}.mp4` }, usage }
  return {
    id: task.id,
    model: task.model,
    status,
    created_at: Math.floor(task.atMs / 1000),
    error: status === 'failed' ? { code: 'InternalServiceError', message: 'failed' } : null,
    ...(status === 'succeeded' ? { ...done, duration: 5, resolution: '720p' } : {}),
  }
}

function showMinimax(task: AcceptedTask): object {
  const status = statusOf(task)
  const content = { url: `https://media.example/${task.id}.mp4` }
  const usage = { total_seconds: 5, input_seconds: 0, output_seconds: 5, input_image_count: 0 }
  return {
    id: task.id,
    model: task.model,
    status,
    ...(status === 'succeeded' ? { content, usage, duration: 5, resolution: '768P' } : {}),
    ...(status === 'failed' ? { error: { code: 1027, message: 'failed' } } : {}),
  }
}

function showDashscope(task: AcceptedTask): object {
  const status = statusOf(task)
  const output = { task_id: task.id, task_status: status.toUpperCase() }
  const url = { video_url: `https://media.example/${task.id}.mp4` }
  if (status === 'failed')
    return { output: { ...output, code: 'InternalError', message: 'failed' } }
  if (status !== 'succeeded') return { output }
  return { output: { ...output, ...url }, usage: { duration: 5, SR: 720 } }
}

function showKling(task: AcceptedTask): object {
  const status = statusOf(task)
  const outputs = [{ type: 'video', url: `https://media.example/${task.id}.mp4` }]
  const shown = status === 'running' ? 'processing' : status
  return { id: task.id, status: shown, message: '', outputs: status === 'succeeded' ? outputs : [] }
}

function showReplicate(task: AcceptedTask): object {
  const status = statusOf(task)
  return {
    id: task.id,
    model: task.model,
    status: status === 'running' ? 'processing' : status,
    created_at: new Date(task.atMs).toISOString(),
    output: status === 'succeeded' ? [`https://media.example/${task.id}.mp4`] : null,
    error: status === 'failed' ? 'failed' : null,
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
