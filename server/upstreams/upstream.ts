/**
 * The contract between the gateway and a vendor's protocol. An upstream is code for one protocol;
 * a channel is one configured account at it; both are named in the catalog, and the pipeline
 * knows no vendor by name.
 *
 * An adapter has no network of its own. It is handed a `Wire`, which opens only with a hold, and
 * may send on it; what it returns is a description of the answer (bytes plus a relay that watches
 * or translates them), never a finished response. Money, retries, time-outs, back-pressure and
 * the client's connection are the pipeline's business.
 *
 * To refuse, an adapter throws an `UpstreamFailure` that says what is known about the outcome:
 * that decides whether another route may be tried and whether the hold can be released.
 */

import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { ZodType } from 'zod'
import type { JsonFields } from '../dialects/json-scan.ts'
import type { Relay, RelayReport } from '../dialects/relay.ts'
import type { BodyReading } from '../dialects/tap.ts'
import type { UpstreamFailure } from './failure.ts'
import type { TaskDrivers } from './task-driver.ts'
import type { Wire, WireResponse } from './wire.ts'

/** What a caller can ask for synchronously. One operation has one request and answer dialect. */
export type Operation =
  | 'chat'
  | 'embedding'
  | 'speech'
  | 'search'
  | 'responses'
  | 'messages'
  | 'image'
  | 'interpretation'
  | 'synthesis'
  | 'transcription'

/** The file of a request that came as a form: on disk, and read as often as attempts need it. */
export interface RequestFile {
  /** Of the part that counts: the samples of a recording, without what stands around them. */
  readonly bytes: number
  /** Of a recording whose length was measured as it arrived; rounded up. */
  readonly seconds?: number
  /** Reads up to the buffer's length from `position` on; returns how much there was. */
  read(buffer: Uint8Array, position: number): Promise<number>
  /**
   * For vendors that fetch: makes it readable for everybody who knows the address that this
   * resolves with, until the call is over. Its last part is `filename`.
   */
  publish(filename: string): Promise<string>
}

/** A caller's request after the gateway's own checks: JSON, not too deep, not too large. */
export interface CallRequest {
  /** The body exactly as it arrived; empty when it was a form. */
  readonly body: Buffer
  /** Byte offsets of the body's top-level members, for edits that leave the rest alone. */
  readonly fields: JsonFields
  /** The parsed body, already valid by the endpoint's schema. Not to be changed. */
  readonly value: Readonly<Record<string, unknown>>
  /** Of a request that came as a form; `value` has its fields. */
  readonly file?: RequestFile | undefined
  /** The caller's headers. An adapter copies only those it names. */
  readonly headers: IncomingHttpHeaders
  readonly requestId: string
  /** Unix seconds: adapters have no clock of their own. */
  readonly createdAtSeconds: number
  /** The model id the caller named: answers say this one, not the vendor's. */
  readonly model: string
  /** Whether the caller wants a stream. */
  readonly stream: boolean
  /** Returns the estimated input tokens, for dialects that must state them early. */
  readonly estimateInputTokens: () => number
}

export interface UpstreamCall<Settings> {
  readonly settings: Settings
  readonly upstreamModel: string
  readonly request: CallRequest
}

/** How the upstream answers, once its head is there and it is not a refusal. */
export interface UpstreamAnswer {
  readonly status: number
  /** For the caller; only what the adapter chose. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readable
  readonly relay: Relay
  /** A stream goes out as it comes; anything else is read whole and written once. */
  readonly stream: boolean
  /** True when the vendor bills nothing more once its connection is closed. */
  readonly stopsOnCancel?: boolean
  /** True where the dialect has no words for an error: what broke off is cut, never ended. */
  readonly cutsWhenBroken?: boolean
  /**
   * The caller has left. For work that goes on only as long as it is fed: the adapter asks the
   * vendor for an early end, and the answer is read on to it, because it tells the usage.
   */
  readonly leave?: () => void
  /** What keeps a silent stream's caller waiting, in its dialect: sent between events only. */
  readonly heartbeat?: Buffer
  /**
   * Asked while nothing has gone to the caller yet: an error inside a body whose status was 200
   * may still be a failure that another route can mend. Undefined means: deliver it as it is.
   */
  readonly refusal?: (report: RelayReport) => UpstreamFailure | undefined
}

export type CallAdapter<Settings> = (
  wire: Wire,
  call: UpstreamCall<Settings>,
) => Promise<UpstreamAnswer>

/** A request about an answer that the vendor keeps or makes. Nothing new is generated by it. */
export interface StoredRequest {
  readonly action: StoredAction
  readonly id: string
  /** The caller's query, without the question mark. */
  readonly query: string
  /** Whether the answer is wanted as a stream of its events; only of `get`. */
  readonly stream?: boolean
}

/** What only an upstream's protocol knows of responses in the background. Pure. */
export interface Background<Settings> {
  /** Whether a channel makes any. */
  offeredBy(settings: Settings): boolean
  /** What the object of a response says; `value` is the request that it answers. */
  read(document: unknown, value: CallRequest['value']): BodyReading
  /**
   * Watches a stream of one, which has no ending of its own when it breaks off. Output counts from
   * events after sequence number `countAfter`; those before were delivered already.
   */
  watch(value: CallRequest['value'], countAfter: number): Relay
}

/** `items`: what the answer was given to. `cancel`: ends one that is made in the background. */
export type StoredAction = 'get' | 'delete' | 'items' | 'cancel'

/**
 * What a model is sure to refuse of a request, said before anything is held. Pure. Throws
 * InvalidRequest with the field at fault.
 */
export type Judge = (value: CallRequest['value'], upstreamModel: string) => void

export interface Upstream<Settings = unknown> {
  /** The protocol's name in the catalog file. */
  readonly name: string
  /** The shape of a channel's settings; its errors are shown to the operator with their path. */
  readonly settings: ZodType<Settings>
  /**
   * What a channel's settings say about the price of every call through it, in the words of price
   * conditions: `region`, and the `service_tier` that serves a request which names none.
   */
  readonly priceFacts?: (settings: Settings) => Readonly<Record<string, string>>
  /**
   * Whether requests of an operation are written anew in another dialect: then the vendor sees
   * only what the translator knows, and none of the tools that vendors run themselves.
   */
  readonly translates?: (operation: Operation, settings: Settings) => boolean
  /** Top-level settings that are encrypted at rest and never shown. */
  readonly secrets: readonly string[]
  readonly calls: Readonly<Partial<Record<Operation, CallAdapter<Settings>>>>
  /** Asked before a task is made of a call, whose refusal would otherwise be heard of late. */
  readonly judges?: Readonly<Partial<Record<Operation, Judge>>>
  /** Responses that it makes in the background, to be asked for by `stored`. */
  readonly background?: Background<Settings>
  /** Gets, lists, cancels or deletes an answer that the vendor keeps. */
  readonly stored?: (
    wire: Wire,
    settings: Settings,
    request: StoredRequest,
  ) => Promise<WireResponse>
  /** Submits and polls tasks; see task-driver.ts. */
  readonly tasks?: TaskDrivers<Settings>
}

/**
 * Checks a definition against its own settings type and hides that type: the pipeline hands an
 * adapter only settings that the same schema has parsed.
 */
export function defineUpstream<Settings>(upstream: Upstream<Settings>): Upstream {
  return upstream as unknown as Upstream
}
