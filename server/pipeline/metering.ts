/**
 * What an endpoint must say so that the pipeline can run and bill its calls. An endpoint is a
 * declaration; this is its vocabulary. No vendor, no SQL, no sockets.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { ZodType } from 'zod'
import type { Model, ModelType } from '../catalog/catalog.ts'
import type { JsonFields } from '../dialects/json-scan.ts'
import type { RelayReport } from '../dialects/relay.ts'
import type { Quantities, Unit } from '../lib/units.ts'
import type { CallRequest, Operation } from '../upstreams/upstream.ts'
import type { Ceiling } from './price/ceiling.ts'
import type { AskedDimensions } from './price/dimensions.ts'

export interface Body extends Readonly<Record<string, unknown>> {}

export interface RequestParts {
  readonly value: Body
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
}

/** How a request is read, be it a call's or a task's. */
export interface RequestMetering {
  /** The name under which records and logs know the endpoint, for example `chat.completions`. */
  readonly endpoint: string
  readonly modelTypes: readonly ModelType[]
  /** Of this endpoint; the operator may have set a lower one. */
  readonly bodyBytesMax: number
  /** The request is a form with a file; its fields are the body that the schema checks. */
  readonly form?: FormReading
  /** Whether pictures may come inside the request: then it may be as large as a chat. */
  readonly takesPictures?: true
  /** Checks shape and ranges; the body is forwarded as it arrived, not as parsed. */
  readonly schema: ZodType
  /** Further checks of the dialect; throws InvalidRequest. */
  readonly check?: (parts: RequestParts) => void
  /** The earlier answer that a request builds on: it must be the caller's own. */
  readonly buildsOn?: (value: Body) => string | undefined
  /** Whether the vendor keeps the answer of this request under its id. */
  readonly keepsAnswer?: (value: Body) => boolean
  /** The model id the caller names, wherever the endpoint's dialect puts it. */
  readonly model: (parts: RequestParts) => string | undefined
  readonly streams: (value: Body) => boolean
  /**
   * Estimated input tokens, for dialects that state them early and for usage that is not stated;
   * 0 where it has no meaning. `bodyBytes` is the size of the request as it was sent.
   */
  readonly inputTokens: (value: Body, bodyBytes: number) => number
}

export interface FormReading {
  readonly fileBytesMax: number
  /**
   * For one file: looks at it as it arrives and says which part of it counts. Both may throw
   * InvalidRequest.
   */
  readonly inspect: () => {
    push(chunk: Buffer): void
    end(): { readonly start: number; readonly bytes: number; readonly seconds?: number }
  }
}

export interface Metering extends RequestMetering {
  readonly operation: Operation
  /** What a call should come to, what it can come to, and what it asks for. */
  readonly quote: (request: QuotedRequest) => Estimate
  /** Where they are priced, stated usage without these is completed by an estimate. */
  readonly needs?: readonly Unit[]
  /** What to bill when the upstream stated no usage: all of it (`complete`) or what was passed. */
  readonly fallback: (request: CallRequest, report: RelayReport, complete: boolean) => Quantities
  /** Whether the part delivered before an upstream broke off is owed. */
  readonly billsBroken: boolean
  /** Whether an upstream's refusal reaches the caller with its own status and body. */
  readonly passesRefusals: boolean
}

/** What an endpoint says of the money of one request, all read in one pass over it. */
export interface Estimate {
  /** What the hold is taken for: an estimate on the safe side, not a bound. */
  readonly quantities: Quantities
  /** The bound that stated usage is believed up to. */
  readonly ceiling: Ceiling
  /** Output tokens that a stream may bring; far beyond them it is cut. None are counted without. */
  readonly streamTokens?: number
  /** How it may be served and what must have a price; without it, nothing changes the price. */
  readonly dimensions?: AskedDimensions
}

export interface QuotedRequest {
  readonly value: Body
  readonly body: Buffer
  readonly fields: JsonFields
  readonly headers: IncomingHttpHeaders
  /** The earlier answers that the request builds on, which are input again. */
  readonly chain?: Chain | undefined
  /** Of a form’s file, the part that counts; absent without one. */
  readonly fileBytes?: number
  /** Of a recording. */
  readonly fileSeconds?: number
  readonly model: Model
}

export interface Chain {
  /** Tokens of all earlier turns together; null where nobody stated them. */
  readonly tokens: number | null
}
