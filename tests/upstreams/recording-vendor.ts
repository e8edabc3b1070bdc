/** Answers that a test wrote down, over a real socket, and the wire that reaches them. */
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import type { Wire } from '../../server/wire/upstreams/wire.ts'
import { startServer } from '../support/servers/local-server.ts'

export interface Recorded {
  readonly status?: number
  /** Of the header X-Api-Status-Code. */
  readonly code?: number
  readonly message?: string
  readonly body?: unknown
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Seen {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Answers each path with what is recorded for it; `seen` lists the requests. */
export async function startRecorded(
  t: TestContext,
  answers: (url: string) => Record<string, Recorded>,
) {
  const seen: Seen[] = []
  const server = await startServer(async (request, response) => {
    const path = request.url ?? ''
    const chunks = await Readable.from(request).toArray()
    seen.push({ path, headers: request.headers, body: Buffer.concat(chunks).toString() })
    const answer = answers(url)[path] ?? { status: 404 }
    const { status = 200, code, message, body, type, headers } = answer
    if (type !== undefined) response.setHeader('content-type', type)
    if (code !== undefined) response.setHeader('X-Api-Status-Code', String(code))
    if (message !== undefined) response.setHeader('X-Api-Message', message)
    response.writeHead(status, headers).end(body === undefined ? '' : JSON.stringify(body))
  })
  t.after(server.stop)
  const url = server.url
  return { url, seen }
}

export const wire: Wire = {
  async send({ method, url, headers, body }) {
    const answer = await fetch(url, {
      method,
      headers,
      ...(Buffer.isBuffer(body) ? { body: new Uint8Array(body) } : {}),
    })
    return {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: Readable.from([Buffer.from(await answer.arrayBuffer())]),
    }
  },
  openSocket: () => Promise.reject(new Error('there are no sockets here')),
  wait: async (forMs) => forMs,
  now: Date.now,
}
