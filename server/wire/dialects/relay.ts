/**
 * A relay processes an upstream's bytes on their way to the caller. A tap returns each chunk
 * unchanged and only reads it; a filter drops frames; a translator returns other bytes. A relay
 * serves one response, holds all of its state, and has no access to sockets or money.
 */
import type { Quantities } from '../../base/lib/units.ts'

export interface Relay {
  /** Feeds upstream bytes. Returns the bytes for the caller: often the very same Buffer. */
  push(chunk: Buffer): Buffer | undefined
  /**
   * Called when the upstream has ended its body. Returns the last bytes for the caller, if any are
   * left.
   */
  end(): Buffer | undefined
  /**
   * The upstream broke off (reset, idle time-out, shutdown). Returns what the caller's dialect
   * has for that case, for example an error event; never a successful ending.
   */
  fail(failure: RelayFailure): Buffer | undefined
  /** Returns the current state at any time: checkpoints read it while the stream runs. */
  report(): RelayReport
  /** Returns the bytes of memory for what has not passed yet; absent if it holds nothing. */
  heldBytes?(): number
}

export interface RelayFailure {
  /** An error `type` of the public error table, for example `server_error`. */
  readonly type: string
  /** Public text: goes to the caller. */
  readonly message: string
}

/**
 * A part of the work that was done by a model other than the one called: an advisor or a fallback.
 */
export interface ModelPass {
  /** The vendor's id of that model, as the answer states it. */
  readonly model: string
  /** The role of the pass in the record's line: `advisor`, `fallback`, `image_generation`. */
  readonly role: string
  readonly usage: Quantities
}

/** A container that the vendor ran for the answer and bills by sessions. */
export interface ContainerUse {
  /** The vendor's id: later answers may use the same container. */
  readonly id: string
  /** The length of a session, as `usage.container_minute` counts it. */
  readonly minutes: number
}

export interface StatedCost {
  /** Billionths of the currency, rounded up. */
  readonly nanos: bigint
  /** ISO 4217, for example `USD`. */
  readonly currency: string
}

/** Tokens that the gateway counted, where the upstream stated none. */
export interface TokensCounted {
  readonly input_token?: number
  readonly output_token?: number
}

export interface RelayReport {
  /**
   * The last usage the upstream stated, in disjoint units. Absent until it states one. A unit
   * that the upstream did not state as a whole number from 0 on is absent.
   */
  readonly usage?: Quantities
  /** Usage of passes by other models, billed at those models' prices beside `usage`. */
  readonly passes?: readonly ModelPass[]
  /** The containers with an id that `usage.container_minute` counts; absent without any. */
  readonly containers?: readonly ContainerUse[]
  /**
   * Facts of how the answer was served, in the terms of price conditions: a size, or `service_tier:
   * 'fast'`. A value without a neutral term stays the vendor's own.
   */
  readonly facts?: Readonly<Record<string, string | number | boolean>>
  /** The cost of this request as stated by the vendor, if it states one. */
  readonly statedCost?: StatedCost
  /**
   * Names of usage fields with a quantity that no unit represents, for example
   * `usage.iterations[0].type`. If not empty, the charge is at least the hold and is flagged for
   * review.
   */
  readonly unknownUsage?: readonly string[]
  /** UTF-8 bytes of generated content seen so far; the basis of an estimate without usage. */
  readonly outputBytes: number
  /** Set after the answer, for the charge. */
  readonly counted?: TokensCounted
  /** The length of the audio so far, if it can be measured; the basis of its estimate. */
  readonly audioSeconds?: number
  /** Events of a stream that brought generated content; vendors send about one for each token. */
  readonly outputEvents?: number
  /** The sequence number up to which output is counted, of a response that can be resumed. */
  readonly sequence?: number
  /** True once the protocol's own ending was seen: `[DONE]`, `message_stop`, code 20000000. */
  readonly finished: boolean
  /** The id under which the vendor stores the answer, if the dialect has one. */
  readonly answerId?: string
  /** Ids of the items of the answer, which the vendor stores with it. */
  readonly itemIds?: readonly string[]
  /** Ids of objects that the vendor keeps in any case: containers, spoken answers. */
  readonly keptIds?: readonly string[]
  /**
   * True if the upstream showed work that it may bill although nothing of it is output: a preview,
   * or the protocol's own ending alone.
   */
  readonly mayBeBilled?: boolean
  /** An error that the upstream reported inside a body whose status was 200. */
  readonly error?: RelayFailure & { readonly code?: string }
}
