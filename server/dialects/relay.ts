/**
 * A relay stands between an upstream's bytes and the caller's. A tap returns the chunk it was
 * given and only watches; a filter drops a frame; a translator returns other bytes. One relay
 * serves one response, holds all of its state, and knows neither sockets nor money.
 */
import type { Quantities } from '../lib/units.ts'

export interface Relay {
  /** Feeds upstream bytes. Returns the bytes for the caller: often the very same Buffer. */
  push(chunk: Buffer): Buffer | undefined
  /** The upstream ended its body. Returns the last bytes for the caller, if any are left. */
  end(): Buffer | undefined
  /**
   * The upstream broke off (reset, idle time-out, shutdown). Returns what the caller's dialect
   * says in that case, for example an error event; never a successful ending.
   */
  fail(failure: RelayFailure): Buffer | undefined
  /** What is known now. May be asked at any time: checkpoints ask while the stream runs. */
  report(): RelayReport
}

export interface RelayFailure {
  /** An error `type` of the public error table, for example `server_error`. */
  readonly type: string
  /** Public text: goes to the caller. */
  readonly message: string
}

export interface RelayReport {
  /** The last usage the upstream stated, in disjoint units. Absent until it states one. */
  readonly usage?: Quantities
  /** What conditions of prices ask for and only the answer could tell, for example a size. */
  readonly facts?: Readonly<Record<string, string | number | boolean>>
  /** UTF-8 bytes of generated content seen so far; the basis of an estimate without usage. */
  readonly outputBytes: number
  /** True once the protocol's own ending was seen: `[DONE]`, `message_stop`, code 20000000. */
  readonly finished: boolean
  /** The id under which the vendor keeps the answer, where the dialect has one. */
  readonly answerId?: string
  /** An error that the upstream reported inside a body whose status was 200. */
  readonly error?: RelayFailure & { readonly code?: string }
}
