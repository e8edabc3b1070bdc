/** The wire of an adapter: its only way to an upstream, by HTTP request or WebSocket. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { UpstreamFailure } from './failure.ts'

/** One HTTP request of an adapter. The body is sent as it is; a stream needs a Content-Length. */
export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Absolute; built from the channel's own settings, never from what a caller sent. */
  readonly url: string
  /** Complete: the wire adds nothing but Content-Length and Host. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer | Readable
}

export interface WireResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Must be read to its end or destroyed. */
  readonly body: Readable
}

export interface Wire {
  /**
   * Sends one request. Resolves when the answer's head is there, whatever its status. Throws an
   * UpstreamFailure of kind `not_sent` when nothing reached the vendor, `unknown` when it may
   * have, and `channel_fault` for a redirect, which is not followed.
   */
  send(request: WireRequest): Promise<WireResponse>
  /**
   * Opens a WebSocket. Throws an UpstreamFailure of kind `not_sent` when it does not come about:
   * until it is open, nothing of the caller's work has been sent.
   */
  openSocket(request: SocketRequest): Promise<SocketOpening>
  /**
   * Lets time pass between two questions about work that goes on at the vendor. Resolves with the
   * milliseconds since the wire was opened. Throws an UpstreamFailure of kind `unknown` when the
   * gateway stops.
   */
  wait(forMs: number): Promise<number>
}

export interface SocketRequest {
  /** Absolute, `ws:` or `wss:`; built from the channel's own settings. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Each binary message, whole and in order; what throws ends the connection. */
  readonly onMessage: (message: Buffer) => void
  /**
   * Called once, after the last message, unless the adapter closed it itself: without a failure
   * when the vendor ended it in order, else with what happened (reset, silence, broken frame).
   */
  readonly onClose: (failure: UpstreamFailure | undefined) => void
}

/** A vendor that does not switch protocols says why in an ordinary answer. */
export type SocketOpening =
  | { readonly socket: WireSocket }
  | { readonly socket: undefined; readonly refusal: WireResponse }

export interface WireSocket {
  /** Sends one binary message; resolves when it was handed to the system, rejects once closed. */
  send(message: Uint8Array): Promise<void>
  /**
   * Sends what `next` returns, one message each `everyMs`, until it returns undefined. The times
   * are those of a clock, not of the sum of waits, so that a pace is kept; what is late follows
   * at once. Rejects once the socket is closed.
   */
  sendPaced(everyMs: number, next: () => Promise<Uint8Array | undefined>): Promise<void>
  /** No further messages until `resume`: for an answer whose reader is slow. */
  pause(): void
  resume(): void
  /** Ends the connection at once and in order; nothing is reported any more. */
  close(): void
}
