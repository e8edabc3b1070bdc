// WebSockets of vendors: the same credentials, call log and scenarios as for requests. Until the
// upgrade, the vendor refuses with an ordinary HTTP response.
import { type IncomingMessage, type Server, ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { failureOf } from './deliver.ts'
import type { Exchange, SocketRoute, Vendor, WholeReply } from './exchange.ts'
import { nextId } from './identifiers.ts'
import { NO_SCENARIO, ScenarioError } from './scenario.ts'
import { readScript } from './script.ts'
import type { Parts } from './server.ts'
import { sleep } from './sleep.ts'

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024

/** Answers upgrade requests of a server. The returned function ends open connections. */
export function serveSockets(server: Server, parts: Parts): () => void {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES })
  const open = new Set<Socket>()
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => socket.destroy())
    upgrade(parts, sockets, { request, socket, head }).catch((cause) => {
      console.error('simulator: an upgrade failed', cause)
      socket.destroy()
    })
  })
  return () => {
    for (const socket of open) socket.destroy()
  }
}

interface UpgradeRequest {
  request: IncomingMessage
  socket: Socket
  head: Buffer
}

async function upgrade(
  parts: Parts,
  sockets: WebSocketServer,
  upgradeRequest: UpgradeRequest,
): Promise<void> {
  const { request, socket, head } = upgradeRequest
  const path = (request.url ?? '/').split('?')[0] ?? '/'
  const vendor = parts.vendors.find((one) => path.startsWith(`${one.prefix}/`))
  if (!vendor) return refuse(socket, { kind: 'whole', status: 404, body: '' })
  const below = path.slice(vendor.prefix.length)
  const route = vendor.sockets?.find((one) => one.path === below)
  const exchange = exchangeOf(parts, vendor, { request, path: below, route })
  const refusal = direct(parts, exchange, route)
  if (exchange.scenario.has('delay-head')) {
    await sleep((exchange.scenario.number('delay-head') ?? 0) * parts.timeScale)
  }
  if (exchange.scenario.has('reset-before-head')) return void socket.resetAndDestroy()
  if (exchange.scenario.has('close-before-head')) return void socket.destroySoon()
  if (refusal || !route) {
    return refuse(socket, refusal ?? { kind: 'whole', status: 404, body: '' }, exchange)
  }
  const name = vendor.requestIdHeader
  sockets.once('headers', (headers) => headers.push(`${name}: ${exchange.requestId}`))
  sockets.handleUpgrade(request, socket, head, (connection: WebSocket) => {
    route.open(exchange, connection, socket)
  })
}

function exchangeOf(
  parts: Parts,
  vendor: Vendor,
  visit: { request: IncomingMessage; path: string; route: SocketRoute | undefined },
): Exchange {
  const { request, path, route } = visit
  return {
    request,
    vendor,
    path,
    query: '',
    body: Buffer.alloc(0),
    json: undefined,
    response: new ServerResponse(request),
    operation: route?.operation ?? 'unknown',
    scenario: NO_SCENARIO,
    script: readScript(''),
    requestId: `req_${nextId()}`,
    fast: parts.fast,
    chunkDelayMs: parts.chunkDelayMs,
  }
}

/** Logs the call, checks its credentials and reads its scenario. */
function direct(
  parts: Parts,
  exchange: Exchange,
  route: SocketRoute | undefined,
): WholeReply | undefined {
  const { vendor, operation, request } = exchange
  if (parts.calls.recording) {
    const { method = 'GET', url = '/', rawHeaders } = request
    const received = { method, url, rawHeaders, vendor: vendor.name, operation }
    parts.calls.record(received, exchange.body)
  }
  const refusal = vendor.authenticate(exchange)
  if (refusal?.kind === 'whole') return refusal
  if (!route) return undefined
  const header = request.headers['x-sim-scenario']
  const sources = [
    ...parts.faults.take(vendor.name, operation),
    ...(typeof header === 'string' ? [header] : []),
  ]
  try {
    exchange.scenario = parts.reader.read(sources, { vendor: vendor.name, marker: '' })
  } catch (cause) {
    if (!(cause instanceof ScenarioError)) throw cause
    return vendor.failure(exchange, { status: 400, message: cause.message })
  }
  const status = exchange.scenario.number('status')
  if (status === undefined) return undefined
  return vendor.failure(exchange, failureOf(exchange, status))
}

function refuse(socket: Socket, reply: WholeReply, exchange?: Exchange): void {
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(reply.body)),
    connection: 'close',
    ...(exchange ? { [exchange.vendor.requestIdHeader]: exchange.requestId } : {}),
    ...reply.headers,
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const status = `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? 'Refused'}\r\n`
  socket.end(
    Buffer.concat([Buffer.from(`${status}${lines.join('')}\r\n`), Buffer.from(reply.body)]),
  )
}
