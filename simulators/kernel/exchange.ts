// The interface between vendors' folders and the kernel: one request in, one reply out. The kernel
// owns the sockets, the faults and the book; a vendor only produces its service's answers.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { Units } from './book.ts'
import type { Scenario, ScenarioName } from './scenario.ts'
import type { Script } from './script.ts'

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly vendor: Vendor
  readonly operation: string
  /** The path below the vendor's prefix, without the query. */
  readonly path: string
  readonly query: string
  readonly body: Buffer
  /** The parsed body, `undefined` without one. */
  json: unknown
  scenario: Scenario
  script: Script
  readonly requestId: string
  readonly fast: boolean
  chunkDelayMs: number
}

/** The vendor's bill for a complete answer. */
export interface Charge {
  model: string
  units: Units
  /** The unit that grows while the answer is generated; the others are owed from the start. */
  grows?: string
  /** The usage object on the wire. */
  reported?: unknown
}

export interface Frame {
  data: string | Buffer
  /** The amount of the growing unit in this frame. */
  units?: number
}

export interface WholeReply {
  kind: 'whole'
  status: number
  headers?: Record<string, string>
  body: string | Buffer
  charge?: Charge
  /** Refused calls are booked too, as not billed, with this reason. */
  reason?: string
}

export interface StreamReply {
  kind: 'stream'
  status: number
  headers?: Record<string, string>
  frames: Frame[]
  charge?: Charge
  /** The vendor's form of events that faults insert. */
  error: (shape: string, failure: Failure) => Frame[]
  padding: (bytes: number) => Frame
}

/** A stream of work that continues without a connection; it has its own bill. */
export interface LiveReply {
  kind: 'live'
  status: number
  headers?: Record<string, string>
  /** The connection is reset after so many writes. */
  cutAfter?: number
  /** Writes past and future events; returns a function that stops following. */
  start: (write: (frame: string) => void, end: () => void) => () => void
}

export type Reply = WholeReply | StreamReply | LiveReply

export interface Failure {
  status: number
  code?: string | undefined
  message?: string | undefined
  retryAfterSeconds?: number | undefined
  /** The invalid field, in the vendor's own notation. */
  param?: string | undefined
}

/** Thrown by a vendor's checks; answered in the vendor's own error shape. */
export class Refused extends Error {
  readonly failure: Failure

  constructor(failure: Failure & { message: string }) {
    super(failure.message)
    this.failure = failure
  }
}

export interface Route {
  method: string
  /** Below the vendor's prefix; `{id}` matches one segment. */
  path: string
  operation: string
  /** Returns the text that may contain directives. */
  text?: (json: unknown) => string
  handle: (exchange: Exchange) => Reply
}

/** A WebSocket endpoint of a vendor. */
export interface SocketRoute {
  /** Below the vendor's prefix. */
  path: string
  operation: string
  /** Called once the connection is upgraded; faults use the socket below it. */
  open: (exchange: Exchange, connection: WebSocket, socket: Socket) => void
}

export interface Vendor {
  name: string
  prefix: string
  routes: Route[]
  sockets?: SocketRoute[]
  /** Oddities that only this vendor's wire format can show. */
  scenarios: ScenarioName[]
  /** The name of the response header with the request id. */
  requestIdHeader: string
  /** Returns undefined if the credentials are valid. */
  authenticate: (exchange: Exchange) => Reply | undefined
  /** Returns a scenario in the URL itself, and the marker by which its `times` are counted. */
  command?: (exchange: Exchange) => { scenario: string; marker: string } | undefined
  failure: (exchange: Exchange, failure: Failure) => WholeReply
  malformed: (exchange: Exchange, message: string) => Reply
  notFound: (exchange: Exchange) => Reply
}

type KeyedVendor = Omit<Vendor, 'authenticate' | 'malformed' | 'notFound'> & {
  keys: readonly string[]
  /** The scheme of the Authorization header; `Bearer` by default. */
  scheme?: string
  wrongKey?: Omit<Failure, 'status'>
  noPath?: Omit<Failure, 'status'>
}

/** Returns a vendor that checks one header for its keys, and refuses in its own form. */
export function keyedVendor(keyed: KeyedVendor): Vendor {
  const { keys, scheme = 'Bearer', wrongKey, noPath, ...vendor } = keyed
  const { failure } = vendor
  const accepted = new Set(keys.map((key) => `${scheme} ${key}`))
  return {
    ...vendor,
    authenticate: (exchange) =>
      accepted.has(String(exchange.request.headers.authorization))
        ? undefined
        : failure(exchange, { status: 401, ...wrongKey }),
    malformed: (exchange, message) => failure(exchange, { status: 400, message }),
    notFound: (exchange) => failure(exchange, { status: 404, message: 'no such path', ...noPath }),
  }
}

export function whole(
  status: number,
  body: unknown,
  more: Omit<Partial<WholeReply>, 'kind' | 'status' | 'body'> = {},
): WholeReply {
  return { kind: 'whole', status, body: JSON.stringify(body), ...more }
}

/** Returns the error page of a proxy in front of the vendor. */
export function proxyPage(status: number): WholeReply {
  const title = `${status} ${status === 504 ? 'Gateway Time-out' : 'Bad Gateway'}`
  const body = `<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\r\n`
  return { kind: 'whole', status, headers: { 'content-type': 'text/html' }, body }
}

/** Returns a refusal in the form that the scenario asks for, by default the vendor's own. */
export function refusalOf(exchange: Exchange, failure: Failure): WholeReply {
  const reply = exchange.vendor.failure(exchange, failure)
  const { status, headers = {} } = reply
  switch (exchange.scenario.text('error-form')) {
    case 'page':
      return proxyPage(status)
    case 'text':
      return { ...reply, headers: { ...headers, 'content-type': 'text/plain' }, body: 'no' }
    case 'empty':
      return { ...reply, body: '' }
    case 'cut':
      return { ...reply, body: String(reply.body).slice(0, reply.body.length / 2) }
    case 'type':
      return { ...reply, headers: { ...headers, 'content-type': 'text/html' } }
    case 'array':
      return { ...whole(status, [1]), headers }
    default:
      return reply
  }
}
