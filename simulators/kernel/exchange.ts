// What a vendor's folder is written against: one request in, one reply out. The kernel owns the
// sockets, the faults and the book; a vendor only says what its service would answer.
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
  /** The parsed body, `undefined` when there was none. */
  json: unknown
  scenario: Scenario
  script: Script
  readonly requestId: string
  readonly fast: boolean
  chunkDelayMs: number
}

/** Vendor's bill for a complete answer. */
export interface Charge {
  model: string
  units: Units
  /** The unit that grows while the answer is generated; the others are owed from the start. */
  grows?: string
  /** The usage object as it goes over the wire. */
  reported?: unknown
}

export interface Frame {
  data: string | Buffer
  /** Amount of the growing unit in this frame. */
  units?: number
}

export interface WholeReply {
  kind: 'whole'
  status: number
  headers?: Record<string, string>
  body: string | Buffer
  charge?: Charge
  /** Refused calls go into the book too, as not billed, with this reason. */
  reason?: string
}

export interface StreamReply {
  kind: 'stream'
  status: number
  headers?: Record<string, string>
  frames: Frame[]
  charge?: Charge
  /** The vendor's form of things that faults insert. */
  error: (shape: string, failure: Failure) => Frame[]
  padding: (bytes: number) => Frame
}

/** A stream of work that goes on whether or not anybody is connected; it has its own bill. */
export interface LiveReply {
  kind: 'live'
  status: number
  headers?: Record<string, string>
  /** The connection is reset after so many writes. */
  cutAfter?: number
  /** Writes what there is and what comes; returns what ends the following. */
  start: (write: (frame: string) => void, end: () => void) => () => void
}

export type Reply = WholeReply | StreamReply | LiveReply

export interface Failure {
  status: number
  code?: string | undefined
  message?: string | undefined
  retryAfterSeconds?: number | undefined
  /** The field that is at fault, in the vendor's own notation. */
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
  /** Below the vendor's prefix; `{id}` stands for one segment. */
  path: string
  operation: string
  /** The text in which directives are looked for. */
  text?: (json: unknown) => string
  handle: (exchange: Exchange) => Reply
}

/** A WebSocket that a vendor offers. */
export interface SocketRoute {
  /** Below the vendor's prefix. */
  path: string
  operation: string
  /** The connection is switched; the socket below it is for faults. */
  open: (exchange: Exchange, connection: WebSocket, socket: Socket) => void
}

export interface Vendor {
  name: string
  prefix: string
  routes: Route[]
  sockets?: SocketRoute[]
  /** Oddities that only this vendor's wire format can show. */
  scenarios: ScenarioName[]
  /** The name of the response header that carries the request id. */
  requestIdHeader: string
  /** Undefined when the credentials are good. */
  authenticate: (exchange: Exchange) => Reply | undefined
  /** A scenario that the address itself asks for, and for whom its `times` are counted. */
  command?: (exchange: Exchange) => { scenario: string; marker: string } | undefined
  failure: (exchange: Exchange, failure: Failure) => WholeReply
  malformed: (exchange: Exchange, message: string) => Reply
  notFound: (exchange: Exchange) => Reply
}

export function whole(
  status: number,
  body: unknown,
  more: Omit<Partial<WholeReply>, 'kind' | 'status' | 'body'> = {},
): WholeReply {
  return { kind: 'whole', status, body: JSON.stringify(body), ...more }
}
