/**
 * A tiny vendor of images for tests of deferred calls: a record of its requests, answers that wait
 * until a test releases them, and the ways in which an answer can be lost.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PNG } from '../../assets/png.ts'
import { startServer } from '../../support/servers/local-server.ts'

export interface ImageVendor {
  readonly url: string
  /** Bodies of the accepted requests, by model. */
  readonly requests: Map<string, Record<string, unknown>[]>
  /** Faults of the next answers: a status, a connection that ends, a page in place of JSON. */
  readonly faults: (number | 'lost' | 'page')[]
  /** Answers wait until `letGo` is called. */
  waits: boolean
  /** Requests whose answers wait. */
  readonly waiting: readonly (() => void)[]
  /** Bytes instead of links. */
  base64: boolean
  usage: object | undefined
  letGo(): void
  stop(): Promise<void>
}

interface State extends Omit<ImageVendor, 'url' | 'letGo' | 'stop'> {
  readonly waiting: (() => void)[]
}

export async function startImageVendor(): Promise<ImageVendor> {
  const state: State = {
    requests: new Map(),
    faults: [],
    waiting: [],
    waits: false,
    base64: false,
    usage: undefined,
  }
  const server = await startServer((request, response) => {
    answer(state, request, response).catch(() => request.socket.destroy())
  })
  return Object.assign(state, {
    url: `${server.url}/v1`,
    letGo() {
      state.waits = false
      for (const go of state.waiting.splice(0)) go()
    },
    stop: server.stop,
  })
}

async function answer(
  state: State,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = JSON.parse(Buffer.concat(chunks).toString())
  const fault = state.faults.shift()
  if (typeof fault === 'number') {
    const error = { message: `refused with ${fault}`, code: 'refused' }
    send(response, fault, { error })
    return
  }
  state.requests.set(body.model, [...(state.requests.get(body.model) ?? []), body])
  if (fault === 'lost') {
    request.socket.destroy()
    return
  }
  if (fault === 'page') {
    response.end('<html>a proxy</html>')
    return
  }
  if (state.waits) await new Promise<void>((go) => state.waiting.push(go))
  const image = state.base64
    ? { b64_json: PNG.toString('base64') }
    : { url: `https://media.example/${body.model}.png`, revised_prompt: body.prompt }
  const data = Array.from({ length: body.n ?? 1 }, () => image)
  const { usage } = state
  send(response, 200, { created: 1_795_253_412, data, ...(usage ? { usage } : {}) })
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
