// The HTTP server of all vendors: finds the route, reads the body, decides the scenario, lets the
// vendor answer and delivers the answer.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Book } from './book.ts'
import type { CallLog } from './calls.ts'
import type { Control } from './control.ts'
import { deliver, failureOf } from './deliver.ts'
import {
  type Exchange,
  Refused,
  type Reply,
  type Route,
  refusalOf,
  type Vendor,
} from './exchange.ts'
import type { FaultQueue } from './fault-queue.ts'
import { nextId } from './identifiers.ts'
import { readForm } from './multipart.ts'
import { NO_SCENARIO, type Scenario, ScenarioError, type ScenarioReader } from './scenario.ts'
import { readScript, type Script } from './script.ts'

export interface Parts {
  vendors: Vendor[]
  book: Book
  calls: CallLog
  faults: FaultQueue
  control: Control
  reader: ScenarioReader
  timeScale: number
  eventsPerWrite: number
  fast: boolean
  chunkDelayMs: number
}

interface Found {
  vendor: Vendor
  route: Route | undefined
  path: string
  query: string
}

const MAX_BODY_BYTES = 64 * 1024 * 1024
const EMPTY_SCRIPT: Script = readScript('')
const OPENING = Buffer.from('[[')

export function createSimulatorServer(parts: Parts): Server {
  const tables = new Map(parts.vendors.map((vendor) => [vendor, tableOf(vendor)]))
  const server = createServer({ keepAliveTimeout: 75_000, requestTimeout: 0 })
  server.on('request', (request, response) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > MAX_BODY_BYTES) request.destroy()
      else chunks.push(chunk)
    })
    request.on('end', () => {
      const [only] = chunks
      const body = only && chunks.length === 1 ? only : Buffer.concat(chunks)
      serve(parts, tables, { request, response, body })
    })
    request.on('error', () => response.destroy())
  })
  return server
}

interface ReceivedRequest {
  request: IncomingMessage
  response: ServerResponse
  body: Buffer
}

type Table = (method: string, path: string) => Route | undefined

function serve(parts: Parts, tables: Map<Vendor, Table>, received: ReceivedRequest): void {
  const { request, response, body } = received
  const url = request.url ?? '/'
  if (url === '/sim' || url.startsWith('/sim/') || url.startsWith('/sim?')) {
    void parts.control.serve(request, response, body)
    return
  }
  const found = find(parts.vendors, tables, request.method ?? 'GET', url)
  if (!found) {
    response.writeHead(404, { 'content-type': 'application/json' })
    response.end('{"error":"no vendor is simulated below this path; see GET /sim"}')
    return
  }
  if (parts.calls.recording) {
    const { method = 'GET', rawHeaders } = request
    const names = { vendor: found.vendor.name, operation: found.route?.operation ?? 'unknown' }
    parts.calls.record({ method, url, rawHeaders, ...names }, body)
  }
  const exchange = exchangeOf(parts, found, received)
  try {
    deliver(exchange, answer(parts, found, exchange), parts)
  } catch (cause) {
    console.error('simulator: a bug in', found.vendor.name, cause)
    response.writeHead(500).end('{"error":"simulator bug, see its log"}')
  }
}

function exchangeOf(parts: Parts, found: Found, received: ReceivedRequest): Exchange {
  return {
    ...received,
    vendor: found.vendor,
    operation: found.route?.operation ?? 'unknown',
    path: found.path,
    query: found.query,
    json: undefined,
    scenario: NO_SCENARIO,
    script: EMPTY_SCRIPT,
    requestId: `req_${nextId()}`,
    fast: parts.fast,
    chunkDelayMs: parts.chunkDelayMs,
  }
}

function answer(parts: Parts, found: Found, exchange: Exchange): Reply {
  const { vendor, route } = found
  const refusal = vendor.authenticate(exchange)
  if (refusal) return refusal
  if (!route) return vendor.notFound(exchange)
  const { 'content-type': contentType = '' } = exchange.request.headers
  const form = readForm(contentType, exchange.body)
  if (form) exchange.json = form
  else if (exchange.body.length > 0) {
    try {
      exchange.json = JSON.parse(exchange.body.toString())
    } catch (cause) {
      return vendor.malformed(exchange, cause instanceof Error ? cause.message : 'bad JSON')
    }
  }
  try {
    direct(parts, route, exchange)
    return faulted(exchange, route)
  } catch (cause) {
    if (cause instanceof Refused) {
      return { ...vendor.failure(exchange, cause.failure), reason: cause.message }
    }
    if (!(cause instanceof ScenarioError)) throw cause
    return vendor.failure(exchange, { status: 400, message: cause.message })
  }
}

/** Reads the directives and decides the scenario. */
function direct(parts: Parts, route: Route, exchange: Exchange): void {
  const { body, vendor, operation } = exchange
  if (route.text && body.includes(OPENING)) exchange.script = readScript(route.text(exchange.json))
  const { script } = exchange
  if (script.chunkDelayMs !== undefined) exchange.chunkDelayMs = script.chunkDelayMs
  const header = exchange.request.headers['x-sim-scenario']
  const command = vendor.command?.(exchange)
  const sources = [
    ...parts.faults.take(vendor.name, operation),
    ...script.faults,
    ...(typeof header === 'string' ? [header] : []),
    ...(command ? [command.scenario] : []),
  ]
  if (sources.length === 0) return
  const asker = { vendor: vendor.name, marker: script.marker ?? command?.marker ?? '' }
  exchange.scenario = parts.reader.read(sources, asker)
}

/** Applies faults that replace the whole answer. */
function faulted(exchange: Exchange, route: Route): Reply {
  const { scenario } = exchange
  if (scenario.empty) return route.handle(exchange)
  const status = scenario.number('status')
  if (status !== undefined && !replacedLater(scenario)) {
    return { ...refusalOf(exchange, failureOf(exchange, status)), reason: `status ${status}` }
  }
  const reply = route.handle(exchange)
  if (!scenario.has('error-200') || reply.status >= 400) return reply
  const failure = refusalOf(exchange, failureOf(exchange, status ?? 500))
  return { ...failure, status: 200, reason: 'error under 200' }
}

function replacedLater(scenario: Scenario): boolean {
  return scenario.has('error-200') || scenario.has('error-mid')
}

function find(
  vendors: Vendor[],
  tables: Map<Vendor, Table>,
  method: string,
  url: string,
): Found | undefined {
  const mark = url.indexOf('?')
  const full = mark < 0 ? url : url.slice(0, mark)
  const query = mark < 0 ? '' : url.slice(mark + 1)
  for (const vendor of vendors) {
    if (!full.startsWith(vendor.prefix)) continue
    const path = full.slice(vendor.prefix.length)
    if (path !== '' && !path.startsWith('/')) continue
    return { vendor, route: tables.get(vendor)?.(method, path), path, query }
  }
  return undefined
}

/** Finds exact paths by one look-up; only paths with `{id}` are compared segment by segment. */
function tableOf(vendor: Vendor): Table {
  const exact = new Map<string, Route>()
  const patterns: { route: Route; expression: RegExp }[] = []
  for (const route of vendor.routes) {
    if (!route.path.includes('{')) exact.set(`${route.method} ${route.path}`, route)
    else {
      const expression = new RegExp(`^${route.path.replaceAll(/\{[a-z]+\}/g, '[^/]+')}$`)
      patterns.push({ route, expression })
    }
  }
  return (method, path) =>
    exact.get(`${method} ${path}`) ??
    patterns.find(({ route, expression }) => route.method === method && expression.test(path))
      ?.route
}
