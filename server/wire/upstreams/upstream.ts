/**
 * The contract between the gateway and a vendor's protocol. An upstream is code for one protocol; a
 * channel is one configured account at it; both are named in the catalog, and the pipeline knows no
 * vendor by name.
 *
 * An adapter has no network access of its own. It receives a `Wire`, which opens only with a hold,
 * and sends on it; it returns a description of the answer (bytes plus a relay that reads or
 * translates them), never a finished response. Money, retries, timeouts, back-pressure and the
 * client's connection belong to the pipeline.
 *
 * To refuse, an adapter throws an `UpstreamFailure` that states what is known about the outcome:
 * this decides whether another route may be tried and whether the hold can be released.
 */

import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { ZodType } from 'zod'
import type { ImageRules } from '../dialects/fields/model-field.ts'
import type { JsonFields } from '../dialects/json-scan.ts'
import type { Relay, RelayReport } from '../dialects/relay.ts'
import type { BodyReading } from '../dialects/tap.ts'
import type { UpstreamFailure } from './failure.ts'
import type { TaskDrivers } from './task-driver.ts'
import type { Wire, WireResponse } from './wire.ts'

/** The synchronous operations. Each has one request and answer dialect. */
export type Operation =
  | 'chat'
  | 'compaction'
  | 'contents'
  | 'contents-embedding'
  | 'completion'
  | 'embedding'
  | 'moderation'
  | 'speech'
  | 'rerank'
  | 'search'
  | 'responses'
  | 'messages'
  | 'image'
  | 'image-edit'
  | 'image-variation'
  | 'interpretation'
  | 'synthesis'
  | 'transcription'

/** The uploaded file of a form request: on disk, and readable once per attempt. */
export interface RequestFile {
  /** Bytes of the relevant part: the samples of a recording, without headers and trailers. */
  readonly bytes: number
  /** Length of a recording, measured once it was received, rounded up. */
  readonly seconds?: number
  /** The reason why the length is a guess, which completes a sentence that begins with `file`. */
  readonly fault?: string
  /** Reads up to the buffer's length from `position`; returns the number of bytes read. */
  read(buffer: Uint8Array, position: number): Promise<number>
  /**
   * Publishes the file for vendors that fetch it, until the call ends. Resolves to its URL, which
   * ends with `filename` and needs no credentials.
   */
  publish(filename: string): Promise<string>
}

/** A caller's request after the gateway's own checks: JSON within the limits of depth and size. */
export interface CallRequest {
  /** The body exactly as it arrived; empty for a form. */
  readonly body: Buffer
  /** Byte offsets of the body's top-level members, for edits that leave the rest unchanged. */
  readonly fields: JsonFields
  /** The parsed body, validated by the endpoint's schema. Must not be changed. */
  readonly value: Readonly<Record<string, unknown>>
  /** The file of a form request; `value` has its fields. */
  readonly file?: RequestFile | undefined
  /** The caller's headers. An adapter forwards only those it names. */
  readonly headers: IncomingHttpHeaders
  readonly requestId: string
  /** Unix seconds: adapters have no clock. */
  readonly createdAtSeconds: number
  /** The model id in the request, which answers repeat in place of the vendor's. */
  readonly model: string
  /** True if the caller requested a stream. */
  readonly stream: boolean
  /** Returns the estimated input tokens, for dialects that state them at the start. */
  readonly estimateInputTokens: () => number
}

export interface UpstreamCall<Settings> {
  readonly settings: Settings
  readonly upstreamModel: string
  /** The model's own output limit, if it is known. */
  readonly outputTokensMax?: number | undefined
  /** True if the model has a price for the vendor's own searches of the web. */
  readonly sellsSearch?: boolean
  readonly request: CallRequest
}

/** The upstream's answer, once its head has arrived and it is not a refusal. */
export interface UpstreamAnswer {
  readonly status: number
  /** Headers for the caller, chosen by the adapter. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readable
  readonly relay: Relay
  /** A stream is relayed as it arrives; anything else is read whole and written once. */
  readonly stream: boolean
  /** True if the vendor may send binary frames, which the relay turns into the caller's text. */
  readonly isFramed?: boolean
  /** True if the vendor bills nothing more once its connection is closed. */
  readonly stopsOnCancel?: boolean
  /** True if the dialect has no error form: an interrupted answer is cut off, never completed. */
  readonly cutsWhenBroken?: boolean
  /**
   * Called if the caller disconnects during streaming input: the adapter requests the vendor to end
   * early, and the answer is read to its end for the usage.
   */
  readonly leave?: () => void
  /** Sent in the caller's dialect to keep a silent stream alive. */
  readonly heartbeat?: Buffer
  /**
   * The longest wait for the first bytes of a stream, in milliseconds: after it the caller gets the
   * head, and an error behind it in the dialect's own form. Otherwise the head waits for them.
   */
  readonly headWithinMs?: number
  /**
   * Checked before anything was sent to the caller: an error inside a body with status 200 may be a
   * failure that another route can avoid. Undefined delivers the answer as it is.
   */
  readonly refusal?: (report: RelayReport) => UpstreamFailure | undefined
}

export type CallAdapter<Settings> = (
  wire: Wire,
  call: UpstreamCall<Settings>,
) => Promise<UpstreamAnswer>

/** A request about an answer that the vendor stores or generates. Generates nothing new. */
export interface StoredRequest {
  readonly action: StoredAction
  readonly id: string
  /** The caller's query string, without the question mark. */
  readonly query: string
  /** True if the answer is requested as a stream of its events; only for `get`. */
  readonly stream?: boolean
}

/** Background responses, as far as they depend on the upstream's protocol. Pure. */
export interface Background<Settings> {
  /** Returns true if the channel supports them. */
  offeredBy(settings: Settings): boolean
  /** Reads a response object; `value` is the request that it answers. */
  read(document: unknown, value: CallRequest['value']): BodyReading
  /**
   * Watches a stream of one, which has no ending of its own when it breaks off. Output counts from
   * events after sequence number `countAfter`; those before were delivered already.
   */
  watch(value: CallRequest['value'], countAfter: number): Relay
}

/** `items`: the input of the answer. `cancel`: ends one that runs in the background. */
export type StoredAction = 'get' | 'delete' | 'items' | 'cancel'

/**
 * Validates a request against a model's known limits before a hold is placed. Pure. Throws
 * InvalidRequest with the invalid field.
 */
export type Judge = (value: CallRequest['value'], upstreamModel: string) => void

export interface Upstream<Settings = unknown> {
  /** The protocol's name in the catalog file. */
  readonly name: string
  /** The provider's name in the OpenTelemetry conventions; by default the protocol's name. */
  readonly provider?: string
  /** The shape of a channel's settings; its errors are shown to the operator with their path. */
  readonly settings: ZodType<Settings>
  /**
   * Facts of the channel's settings for the price of every call through it, in the terms of price
   * conditions: `region`, and the `service_tier` of requests that name none.
   */
  readonly priceFacts?: (settings: Settings) => Readonly<Record<string, string>>
  /**
   * Returns true if requests of an operation are translated to another dialect: the vendor then
   * only receives what the translator knows, and no vendor-run tools but a search.
   */
  readonly translates?: (operation: Operation, settings: Settings) => boolean
  /** True if translated requests may ask for a search of the web, which answers count. */
  readonly translatesSearch?: boolean
  /** True if translated chat completions keep marks of content for caches. */
  readonly translatesMarks?: boolean
  /** Returns true for a model that searches the web for each answer, whatever is requested. */
  readonly searchesAlways?: (upstreamModel: string) => boolean
  /** Top-level settings that are encrypted at rest and never shown. */
  readonly secrets: readonly string[]
  /** Returns the settings for each key of a channel, which differ in the key alone. */
  readonly eachKey?: (settings: Settings) => readonly Settings[]
  /** Returns the most calls that a channel may have at once; undefined: no limit. */
  readonly concurrency?: (settings: Settings) => number | undefined
  readonly calls: Readonly<Partial<Record<Operation, CallAdapter<Settings>>>>
  /**
   * Returns true if callers may name anything that the vendor's account stores. Otherwise they may
   * name what this gateway gave to their own account.
   */
  readonly sharesStored?: (settings: Settings) => boolean
  /** Returns the rules of an image model, as far as they are known. Pure. */
  readonly images?: (upstreamModel: string) => ImageRules
  /** Called before a call becomes a task, so that a refusal comes early. */
  readonly judges?: Readonly<Partial<Record<Operation, Judge>>>
  /** Background responses, which are read by `stored`. */
  readonly background?: Background<Settings>
  /** Gets, lists, cancels or deletes an answer that the vendor stores. */
  readonly stored?: (
    wire: Wire,
    settings: Settings,
    request: StoredRequest,
  ) => Promise<WireResponse>
  /**
   * Returns the address of the free requests, where the settings hold none: it follows from others,
   * such as a region.
   */
  readonly address?: (settings: Settings) => string
  /**
   * Sends a free request with the channel's key, for the operator's test; absent where the vendor
   * has none. The wire only reads.
   */
  readonly probe?: (wire: Wire, settings: Settings) => Promise<WireResponse>
  /**
   * Requests the models of the channel's account; absent where the vendor has no such list. The
   * answer is JSON: a list of objects with an `id`, or an object with it as `data`. The wire only
   * reads.
   */
  readonly listModels?: (wire: Wire, settings: Settings) => Promise<WireResponse>
  /**
   * Sends a GET to a path of the channel's address to find out whether anything is served there;
   * absent if no path is in doubt. The wire only reads.
   */
  readonly askAt?: (wire: Wire, settings: Settings, path: string) => Promise<WireResponse>
  /** Submits and polls tasks; see task-driver.ts. */
  readonly tasks?: TaskDrivers<Settings>
}

/**
 * Checks a definition against its own settings type and hides that type: the pipeline passes an
 * adapter only settings parsed by the same schema.
 */
export function defineUpstream<Settings>(upstream: Upstream<Settings>): Upstream {
  return upstream as unknown as Upstream
}
