/**
 * The protocols of every vendor of tasks on one server whose answers to creations a test writes
 * down. Everything else about its tasks is answered as the vendors do.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { startServer } from '../support/servers/local-server.ts'

/** What happens to a creation. */
export interface Script {
  /** Whether the vendor takes the task, whatever it answers. */
  readonly takes?: boolean
  /**
   * Undefined resets the connection; `hang` never answers; `accept` is the vendor's success. `<id>` in
   * a body is the id of the creation, whether the vendor has its task or not.
   */
  readonly answer?: Answer | 'hang' | 'accept'
  /** Whether lists and queries are answered by a proxy as well. */
  readonly isDark?: boolean
}

export interface Answer {
  readonly status: number
  readonly body?: string
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface ScriptedVendors {
  readonly url: string
  /** The scripts of creations, by the first segment of their path. */
  readonly scripts: Map<string, Script>
  /** The places where creations arrived. */
  readonly creations: string[]
  /** The tasks that were taken. */
  readonly taken: { id: string; place: string; model: string }[]
  stop(): Promise<void>
}

export async function startScriptedVendors(): Promise<ScriptedVendors> {
  const server = await startServer((request, response) => handle(vendors, request, response))
  const vendors: ScriptedVendors = {
    url: server.url,
    scripts: new Map(),
    creations: [],
    taken: [],
    stop: server.stop,
  }
  return vendors
}

async function handle(
  vendors: ScriptedVendors,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const url = new URL(request.url ?? '', 'http://vendor')
  const [, place = ''] = url.pathname.split('/')
  const { takes, answer, isDark } = vendors.scripts.get(place) ?? {}
  if (request.method === 'GET' || url.pathname.endsWith('/query')) {
    if (isDark) send(response, PROXY)
    else read(vendors, request, response, url, String(Buffer.concat(chunks)))
    return
  }
  const { client_token: token, model } = JSON.parse(Buffer.concat(chunks).toString())
  vendors.creations.push(place)
  const made = `task-${vendors.creations.length}-${Date.now()}`
  const id = String(token ?? request.headers['x-api-request-id'] ?? made)
  const isKnown = vendors.taken.some((task) => task.id === id)
  if (takes && !isKnown) vendors.taken.push({ id, place, model })
  if (answer === 'accept' || (isKnown && !isDark)) send(response, success(url.pathname, id))
  else if (answer === undefined) request.socket.resetAndDestroy()
  else if (answer !== 'hang') {
    send(response, { ...answer, body: (answer.body ?? '').replaceAll('<id>', id) })
  }
}

export const PROXY: Answer = { status: 502, type: 'text/html', body: '<h1>Bad Gateway</h1>' }

/** The answer of each protocol to a creation that was taken. */
function success(pathname: string, id: string): Answer {
  const [, , protocol = ''] = pathname.split('/')
  const header = { 'x-api-status-code': '20000000', 'x-api-message': 'OK' }
  const bodies: Readonly<Record<string, [unknown, Readonly<Record<string, string>>?]>> = {
    ark: [{ id }],
    v1: [{ task_id: id, base_resp: { status_code: 0, status_msg: 'success' } }],
    v2: [{ task_id: id }],
    tools: [{ success: true, task_id: id }],
    lark: [{ Data: { TaskID: id } }, header],
    recognition: [{}, header],
  }
  const name = pathname.includes('/bigmodel/')
    ? 'recognition'
    : Object.keys(bodies).find((one) => one === protocol || pathname.includes(`/${one}/`))
  const [body, headers = {}] = bodies[name ?? ''] ?? [{}]
  return { status: 200, body: JSON.stringify(body), headers }
}

function read(
  { taken }: ScriptedVendors,
  request: IncomingMessage,
  response: ServerResponse,
  { pathname, searchParams }: URL,
  body: string,
): void {
  const [, place = ''] = pathname.split('/')
  const isTaken = (id: string) => taken.some((task) => task.id === id)
  if (pathname.endsWith('/bigmodel/query')) {
    const id = String(request.headers['x-api-request-id'])
    const code = isTaken(id) ? '20000001' : '45000001'
    send(response, { status: 200, body: '{}', headers: { 'x-api-status-code': code } })
    return
  }
  if (pathname.endsWith('/tasks')) {
    const model = searchParams.get('filter.model')
    const created_at = Math.floor(Date.now() / 1000)
    const items = taken
      .filter((task) => task.model === model && task.place === place)
      .map(({ id }) => ({ id, created_at, status: 'running' }))
    send(response, { status: 200, body: JSON.stringify({ items, total: items.length }) })
    return
  }
  if (pathname.endsWith('/lark/query')) {
    const code = isTaken(JSON.parse(body).TaskID) ? '20000000' : '45000001'
    send(response, { status: 200, body: '{}', headers: { 'x-api-status-code': code } })
    return
  }
  const last = decodeURIComponent(pathname.split('/').at(-1) ?? '')
  const id = searchParams.get('task_id') ?? last
  if (!isTaken(id)) {
    send(response, { status: 404, body: '{"error":{"code":"NotFound","message":"no such task"}}' })
    return
  }
  const running = { id, task_id: id, success: true, status: 'running', task: { status: 'running' } }
  send(response, { status: 200, body: JSON.stringify(running) })
}

function send(response: ServerResponse, { status, body = '', type, headers = {} }: Answer): void {
  const length = { 'content-length': String(Buffer.byteLength(body)) }
  response.writeHead(status, {
    'content-type': type ?? 'application/json',
    ...length,
    ...headers,
  })
  response.end(body)
}
