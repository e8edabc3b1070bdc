/**
 * A video vendor whose tasks take from ten seconds to three hours of its own time, with a book of
 * accepted and billed tasks. It runs in the proof's process, which is never killed.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Random } from '../../testbed/random.ts'

export interface AcceptedTask {
  readonly id: string
  /** The caller's text: it identifies the call. */
  readonly text: string
  readonly model: string
  readonly acceptedAtMs: number
  readonly endsAtMs: number
  readonly fails: boolean
}

export interface Vendor {
  readonly url: string
  readonly accepted: ReadonlyMap<string, AcceptedTask>
  polls(): number
  stop(): Promise<void>
}

export interface VendorOptions {
  readonly random: Random
  /** Real milliseconds for one second of the vendor's. */
  readonly msPerSecond: number
  /** Of 100 creations, these are accepted and never answered. */
  readonly lostPercent: number
}

const SECONDS = [10, 10_800] as const
const FAILED_PERCENT = 5
const TOKENS = 108_900
const PREFIX = '/ark/api/v3/contents/generations/tasks'

export async function startVendor(options: VendorOptions): Promise<Vendor> {
  const accepted = new Map<string, AcceptedTask>()
  let polls = 0
  const server = createServer((request, response) => {
    if (request.method === 'GET') polls += 1
    handle(options, accepted, request, response).catch(() => request.socket.destroy())
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    accepted,
    polls: () => polls,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function handle(
  options: VendorOptions,
  accepted: Map<string, AcceptedTask>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  if (request.method === 'POST') {
    const task = accept(options, accepted, JSON.parse(Buffer.concat(chunks).toString('utf8')))
    if (options.random.next() * 100 < options.lostPercent) request.socket.destroy()
    else send(response, 200, { id: task.id })
    return
  }
  const url = new URL(request.url ?? '', 'http://vendor')
  const id = decodeURIComponent(url.pathname.slice(PREFIX.length + 1))
  if (id === '') return list(accepted, url, response)
  const task = accepted.get(id)
  if (task) send(response, 200, show(task))
  else send(response, 404, { error: { code: 'ResourceNotFound', message: 'no such task' } })
}

function accept(
  { random, msPerSecond }: VendorOptions,
  accepted: Map<string, AcceptedTask>,
  body: { model: string; content: { text: string }[] },
): AcceptedTask {
  const [shortest, longest] = SECONDS
  const seconds = shortest * (longest / shortest) ** random.next()
  const acceptedAtMs = Date.now()
  const task: AcceptedTask = {
    id: `cgt-${acceptedAtMs}-${accepted.size}`,
    text: body.content[0]?.text ?? '',
    model: body.model,
    acceptedAtMs,
    endsAtMs: acceptedAtMs + seconds * msPerSecond,
    fails: random.next() * 100 < FAILED_PERCENT,
  }
  accepted.set(task.id, task)
  return task
}

function list(accepted: Map<string, AcceptedTask>, url: URL, response: ServerResponse): void {
  const page = Number(url.searchParams.get('page_num') ?? 1)
  const size = Number(url.searchParams.get('page_size') ?? 20)
  const all = [...accepted.values()].reverse()
  const items = all.slice((page - 1) * size, page * size).map(show)
  send(response, 200, { items, total: all.length })
}

function show(task: AcceptedTask): object {
  const isOver = Date.now() >= task.endsAtMs
  const status = isOver ? (task.fails ? 'failed' : 'succeeded') : 'running'
  return {
    id: task.id,
    model: task.model,
    status,
    created_at: Math.floor(task.acceptedAtMs / 1000),
    error: status === 'failed' ? { code: 'InternalServiceError', message: 'failed' } : null,
    ...(status === 'succeeded'
      ? {
          content: { video_url: `https://media.example/${task.id}.mp4` },
          usage: { completion_tokens: TOKENS, total_tokens: TOKENS },
          duration: 5,
          resolution: '720p',
          ratio: '16:9',
        }
      : {}),
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
