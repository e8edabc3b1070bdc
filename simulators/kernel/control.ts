// The control endpoints for tests: the book, the received calls, queued faults, and the list of
// scenarios.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Book } from './book.ts'
import type { CallLog } from './calls.ts'
import { isObject } from './checks.ts'
import type { FaultQueue } from './fault-queue.ts'
import type { ScenarioName } from './scenario.ts'

export interface ControlParts {
  book: Book
  calls: CallLog
  faults: FaultQueue
  scenarios: ScenarioName[]
  vendors: { name: string; prefix: string; operations: string[] }[]
}

type Answer = Promise<unknown> | unknown

export class Control {
  private readonly parts: ControlParts

  constructor(parts: ControlParts) {
    this.parts = parts
  }

  async serve(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://sim')
    const handler = this.routes[`${request.method} ${url.pathname}`]
    try {
      const answer = handler
        ? await handler(url.searchParams, parse(body))
        : { error: `no such control call; see GET /sim` }
      reply(response, handler ? 200 : 404, answer)
    } catch (cause) {
      reply(response, 400, { error: String(cause instanceof Error ? cause.message : cause) })
    }
  }

  private readonly routes: Record<string, (query: URLSearchParams, body: unknown) => Answer> = {
    'GET /sim': () => ({ vendors: this.parts.vendors, scenarios: this.parts.scenarios }),
    'GET /sim/book': async (query) => {
      const { book } = this.parts
      if (query.has('wait')) {
        const limit = Number(query.get('wait')) || 10_000
        await Promise.race([book.settled(), new Promise((done) => setTimeout(done, limit))])
      }
      const filter = {
        since: query.has('since') ? Number(query.get('since')) : undefined,
        marker: query.get('marker') ?? undefined,
        vendor: query.get('vendor') ?? undefined,
        operation: query.get('operation') ?? undefined,
      }
      return { open: book.open, entries: book.entries(filter), totals: book.totals() }
    },
    'DELETE /sim/book': () => {
      this.parts.book.clear()
      return { cleared: true }
    },
    'GET /sim/calls': (query) => ({
      recording: this.parts.calls.recording,
      calls: this.parts.calls.list(Number(query.get('since') ?? 0)),
    }),
    'DELETE /sim/calls': () => {
      this.parts.calls.clear()
      return { cleared: true }
    },
    'POST /sim/calls': (_, body) => {
      this.parts.calls.recording = isObject(body) && body.recording === true
      return { recording: this.parts.calls.recording }
    },
    'GET /sim/faults': () => ({ queued: this.parts.faults.list() }),
    'POST /sim/faults': (_, body) => this.parts.faults.add(body),
    'DELETE /sim/faults': () => {
      this.parts.faults.clear()
      return { cleared: true }
    },
  }
}

function parse(body: Buffer): unknown {
  return body.length === 0 ? undefined : JSON.parse(body.toString())
}

function reply(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
