/**
 * The declarations of an endpoint by which the pipeline reads, runs and bills its calls. No vendor,
 * no SQL, no sockets.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { ZodType } from 'zod'
import type { ReadRange } from '../../base/lib/media/open-window.ts'
import type { Quantities, Unit } from '../../base/lib/units.ts'
import type { Model, ModelType } from '../../money/catalog/catalog.ts'
import type { JsonFields } from '../../wire/dialects/json-scan.ts'
import type { RelayReport, TokensCounted } from '../../wire/dialects/relay.ts'
import type { UsagePlace } from '../../wire/dialects/usage/state-cost.ts'
import type { CallRequest, Operation } from '../../wire/upstreams/upstream.ts'
import type { Ceiling } from './price/ceiling.ts'
import type { RequestedDimensions, ToolOffer } from './price/dimensions.ts'

export interface Body extends Readonly<Record<string, unknown>> {}

export interface RequestParts {
  readonly value: Body
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
}

export interface RequestPath {
  readonly params: Readonly<Record<string, string | undefined>>
  readonly query: URLSearchParams
}

/** A multipart form that was read into memory. */
export interface MemoryForm {
  /** The values of each field, in order. */
  readonly fields: ReadonlyMap<string, readonly string[]>
  readonly files: readonly MemoryFile[]
}

export interface MemoryFile {
  /** The name of its field. */
  readonly name: string
  readonly content: Buffer
}

/** Declares how the requests of calls or tasks are read. */
export interface RequestMetering {
  /** The endpoint's name in usage records and logs, for example `chat.completions`. */
  readonly endpoint: string
  readonly modelTypes: readonly ModelType[]
  /** The endpoint's own limit; the operator may set a lower one. */
  readonly bodyBytesMax: number
  /** Present if the request is a form with a file; the schema checks its fields as the body. */
  readonly form?: FormReading
  /**
   * Also accepts a form, which it converts to the equivalent JSON, with files as `DataUrl`; throws
   * InvalidRequest.
   */
  readonly fromForm?: (form: MemoryForm) => Body
  /** Returns members from the path and the query, which replace those of the body. */
  readonly fromPath?: (path: RequestPath) => Body
  /** Allows bodies as large as those of chats, since they may contain pictures. */
  readonly takesPictures?: true
  /** Accepts a list of models (`models`), which are tried in turn. */
  readonly takesModels?: true
  /** A request without a model gets the only one of `modelTypes` that the caller may call. */
  readonly defaultsToOnlyModel?: true
  /** Checks shape and ranges; the body is forwarded as it arrived, not as parsed. */
  readonly schema: ZodType
  /** Further checks of the dialect; throws InvalidRequest. */
  readonly check?: (parts: RequestParts) => void
  /** The place of an answer's usage, for callers that want the charge there; absent: never. */
  readonly usagePlace?: UsagePlace
  /** Returns the id of the earlier answer that a request continues: it must be the caller's. */
  readonly buildsOn?: (value: Body) => string | undefined
  /** Finds other stored objects of the vendor that a request names. */
  readonly names?: NameReading
  /** Returns true if the vendor stores the answer of this request under its id. */
  readonly keepsAnswer?: (value: Body) => boolean
  /** Returns the model id, from wherever the endpoint's dialect has it. */
  readonly model: (parts: RequestParts) => string | undefined
  readonly streams: (value: Body) => boolean
  /**
   * Returns the estimated input tokens, for dialects that state them early and for usage that is
   * not stated; 0 if not applicable. `bodyBytes` is the size of the request as sent.
   */
  readonly inputTokens: (value: Body, bodyBytes: number) => number
}

export interface NameReading {
  /**
   * The operation whose translations read nothing that the vendor stores; absent if there is none.
   */
  readonly operation?: Operation
  readonly find: (value: Body) => NamedContent
}

/** Content at the vendor that a request names by ids. */
export interface NamedContent {
  /** References to content that is not in the body. */
  readonly references: readonly StoredReference[]
  /** Input items whose content is in the body, beside an id. */
  readonly identified: readonly IdentifiedItem[]
}

export interface IdentifiedItem {
  /** Its place in the input. */
  readonly position: number
  /** Absent for an id that is not a string. */
  readonly id?: string
  /** True if its content is present but empty: the vendor may read its stored content instead. */
  readonly isEmpty: boolean
}

export interface StoredReference {
  /** For the 400, for example `input[2].id`. */
  readonly field: string
  /** A text, or a value of another type that the caller sent instead. */
  readonly id: unknown
}

export interface FormReading {
  readonly fileBytesMax: number
  /**
   * Creates the inspector of one file: it sees each chunk as it arrives, then reads the whole file
   * as far as it needs to, and returns the relevant part. Both of its methods may throw
   * InvalidRequest.
   */
  readonly inspect: () => {
    push(chunk: Buffer): void
    end(read: ReadRange): InspectedFile | Promise<InspectedFile>
  }
  /** Returns true if the model needs the other part of the file; absent if there is none. */
  readonly takesOther?: (model: Model) => boolean
}

export interface FilePart {
  readonly start: number
  readonly bytes: number
  /** Length of a recording, rounded up. */
  readonly seconds?: number
  /** The reason why the length of a recording is not measured, after the word `file`. */
  readonly fault?: string
}

export interface InspectedFile extends FilePart {
  /** The part that other models take, or the InvalidRequest for which they cannot. */
  readonly other?: FilePart | Error
}

export interface Metering extends RequestMetering {
  readonly operation: Operation
  /** Returns the expected and the greatest quantities of a call, and its price dimensions. */
  readonly quote: (request: QuotedRequest) => Estimate
  /** Units that are estimated if they are priced and the stated usage lacks them. */
  readonly needs?: readonly Unit[]
  /**
   * Returns the quantities to bill if the upstream stated no usage: of the complete answer, or of
   * the part that was delivered.
   */
  readonly fallback: (request: CallRequest, report: RelayReport, complete: boolean) => Quantities
  /** Counts the text of a call whose usage was not stated; `answer` is that of a whole answer. */
  readonly count?: (request: CallRequest, answer: Buffer | undefined) => Promise<TokensCounted>
  /** True if the part delivered before an upstream broke off is charged. */
  readonly billsBroken: boolean
  /** Removes offered tools that the model has no price for from a request; absent: never. */
  readonly takeOut?: (request: TextRequest, offers: readonly ToolOffer[]) => TakenOut
  /** True if an upstream's refusal reaches the caller with its own status and body. */
  readonly passesRefusals: boolean
}

/** A JSON request as it is priced and sent. */
export type TextRequest = Pick<CallRequest, 'body' | 'fields' | 'value'>

/** The request without the offered tools, or the first of them that it demands. */
export type TakenOut = { readonly request: TextRequest } | { readonly demanded: ToolOffer }

/** An endpoint's estimate of one request, computed in one pass over it. */
export interface Estimate {
  /** The quantities to hold for: a cautious estimate, not a bound. */
  readonly quantities: Quantities
  /**
   * The most tokens of input outside the body in one pass; absent if all of the input is in the
   * body.
   */
  readonly most?: Quantities
  /** The bound up to which stated usage is charged as stated. */
  readonly ceiling: Ceiling
  /** Expected output tokens of a stream, which is cut far beyond them; absent: no limit. */
  readonly streamTokens?: number
  /** Absent if nothing in the request changes the price. */
  readonly dimensions?: RequestedDimensions
}

export interface QuotedRequest {
  readonly value: Body
  readonly body: Buffer
  readonly fields: JsonFields
  readonly headers: IncomingHttpHeaders
  /** The earlier answers that the request continues, which count as input again. */
  readonly chain?: Chain | undefined
  /** True if the vendor searches the web for each answer, whatever is requested. */
  readonly searchesAlways?: boolean
  /** Bytes of the relevant part of a form's file; absent without one. */
  readonly fileBytes?: number
  /** Length of a recording. */
  readonly fileSeconds?: number
  /** The reason why the length is a guess, which follows the word `file`. */
  readonly fileFault?: string | undefined
  readonly model: Model
}

export interface Chain {
  /** Tokens of all earlier turns together; null if unknown. */
  readonly tokens: number | null
}
