/** The wire of an adapter: its only way to an upstream, by HTTP request or WebSocket. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Memory } from '../../base/lib/memory/memory.ts'
import type { UpstreamFailure } from './failure.ts'

/** One HTTP request of an adapter. The body is sent unchanged; a stream needs a Content-Length. */
export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Absolute; built from the channel's settings, never from the caller's input. */
  readonly url: string
  /** Complete: the wire adds only Content-Length and Host. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer | Readable
  /** True for a free request that asks for a credential; allowed to wires that only read. */
  readonly forCredential?: true
}

export interface WireResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Must be read to its end or destroyed. */
  readonly body: Readable
  /** Counts its bytes while they are kept; absent for requests that no account has caused. */
  readonly room?: WireRoom | undefined
}

export interface WireRoom {
  readonly memory: Pick<Memory, 'bytes' | 'loop'>
  /** The id of the account. */
  readonly account: string
}

/** Returns true for the body of a response that has arrived to its end, before it is read. */
export function hasArrived(body: Readable): boolean {
  return 'hasArrived' in body && body.hasArrived === true
}

export interface Wire {
  /**
   * Sends one request. Resolves with the response head, whatever its status. Rejects with an
   * UpstreamFailure of kind `not_sent` if nothing reached the vendor, `unknown` if it may have, and
   * `channel_fault` for a redirect, which is not followed.
   */
  send(request: WireRequest): Promise<WireResponse>
  /**
   * Opens a WebSocket. Rejects with an UpstreamFailure of kind `not_sent` if that fails: until it
   * is open, none of the caller's data has been sent.
   */
  openSocket(request: SocketRequest): Promise<SocketOpening>
  /**
   * Waits between two polls of work at the vendor. Resolves with the milliseconds since the wire
   * was opened. Rejects with an UpstreamFailure of kind `unknown` if the gateway stops.
   */
  wait(forMs: number): Promise<number>
  /** Returns the time in Unix milliseconds, for signatures and the ends of credentials. */
  now(): number
}

export interface SocketRequest {
  /** Absolute, `ws:` or `wss:`; built from the channel's settings. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Receives each binary message, whole and in order; an exception ends the connection. */
  readonly onMessage: (message: Buffer) => void
  /**
   * Called once, after the last message, unless the adapter closed the connection itself: without a
   * failure after a regular close, else with the failure (reset, timeout, broken frame).
   */
  readonly onClose: (failure: UpstreamFailure | undefined) => void
}

/** A vendor that does not switch protocols sends a regular response with the reason. */
export type SocketOpening =
  | { readonly socket: WireSocket }
  | { readonly socket: undefined; readonly refusal: WireResponse }

export interface WireSocket {
  /** Sends one binary message; resolves once it was passed to the system, rejects once closed. */
  send(message: Uint8Array): Promise<void>
  /**
   * Sends the messages that `next` returns, one every `everyMs`, until it returns undefined. The
   * schedule is absolute, so that the pace is kept: late messages follow at once. Rejects once the
   * socket is closed.
   */
  sendPaced(everyMs: number, next: () => Promise<Uint8Array | undefined>): Promise<void>
  /** Stops further messages until `resume`, for an answer whose reader is slow. */
  pause(): void
  resume(): void
  /** Closes the connection regularly and at once, without further events. */
  close(): void
}
