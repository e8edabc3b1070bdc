/**
 * What an endpoint must say so that the pipeline can run and bill its calls. An endpoint is a
 * declaration; this is its vocabulary. No vendor, no SQL, no sockets.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { ZodType } from 'zod'
import type { Facts, Model, ModelType } from '../catalog/catalog.ts'
import type { RelayReport } from '../dialects/relay.ts'
import type { Quantities, Unit } from '../lib/units.ts'
import type { CallRequest, Operation } from '../upstreams/upstream.ts'
import type { AskedDimensions } from './dimensions.ts'

export interface Body extends Readonly<Record<string, unknown>> {}

export interface RequestParts {
  readonly value: Body
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
}

/** How a request is read, be it a call's or a task's. */
export interface Reading {
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
  /** Estimated input tokens, for dialects that state them early; 0 where it has no meaning. */
  readonly inputTokens: (value: Body) => number
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

export interface Metering extends Reading {
  readonly operation: Operation
  /** The most this call should come to: what the hold freezes. */
  readonly quote: (request: QuotedRequest) => Quantities
  /** What conditions of prices may ask for, for example a resolution. */
  readonly facts?: (value: Body) => Facts
  /** What the request asks for that changes its price; without it, nothing does. */
  readonly dimensions?: (parts: RequestParts) => AskedDimensions
  /** Where they are priced, stated usage without these is completed by an estimate. */
  readonly needs?: readonly Unit[]
  /** What to bill when the upstream stated no usage: all of it (`complete`) or what was passed. */
  readonly fallback: (request: CallRequest, report: RelayReport, complete: boolean) => Quantities
  /**
   * Whether usage of more than ten times the hold is to be believed: where the hold was priced by
   * what a caller's file says of itself.
   */
  readonly plausible?: (request: CallRequest, usage: Quantities) => boolean
  /** Whether the part delivered before an upstream broke off is owed. */
  readonly billsBroken: boolean
  /** Whether an upstream's refusal reaches the caller with its own status and body. */
  readonly passesRefusals: boolean
}

export interface QuotedRequest {
  readonly value: Body
  readonly body: Buffer
  /** Of a form’s file, the part that counts; absent without one. */
  readonly fileBytes?: number
  /** Of a recording. */
  readonly fileSeconds?: number
  readonly inputTokens: number
  readonly model: Model
}
