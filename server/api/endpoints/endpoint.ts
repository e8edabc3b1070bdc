/**
 * Types of endpoint declarations. A metered endpoint declares how to read and bill its calls, and
 * the pipeline runs them; a plain one handles requests by itself. The API reference is generated
 * from these declarations.
 */
import type { ZodType } from 'zod'
import type { Context } from '../../base/http/context.ts'
import type { Envelope } from '../../base/http/envelope.ts'
import type { Method } from '../../base/http/router.ts'
import type { Guard } from '../../base/outbound/guard.ts'
import type { Caller } from '../../money/accounts/accounts.ts'
import type { UsageReader } from '../../money/usage/usage.ts'
import type { Library } from '../../work/assets/library/library.ts'
import type { Files } from '../../work/assets/uploads/files.ts'
import type { Metering } from '../../work/pipeline/metering.ts'
import type { Services } from '../../work/pipeline/services.ts'
import type { BackgroundSubmission } from '../../work/tasks/background/background-order.ts'
import type { CallbackAddresses } from '../../work/tasks/callbacks/callback-addresses.ts'
import type { TaskSubmission } from '../../work/tasks/submission.ts'
import type { Tasks } from '../../work/tasks/tasks.ts'
import type { Webhooks } from '../../work/webhooks/webhooks.ts'
import type { Sockets } from './sockets.ts'

/** Error statuses of paid calls, beyond 401. */
export const CALL_ERRORS = [400, 402, 403, 404, 409, 413, 415, 422, 429, 502, 503]
/** Error statuses of reading one object, beyond 401. */
export const RECORD_ERRORS = [403, 404, 503]

/** Returns the name in usage records and logs: `chat.completions` for /v1/chat/completions. */
export function endpointNameOf(path: string): string {
  return path.replace(/^\/v\d+\//, '').replaceAll('/', '.')
}

/** A working request and its answer; both must pass the endpoint's schemas. */
export interface Example {
  /** The path with its parameters filled in, and the query; the canonical path when absent. */
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** The fields of a multipart form, as curl writes them: `@name` is a file. */
  readonly form?: Readonly<Record<string, string>>
  readonly answer?: unknown
}

export interface Documentation {
  readonly summary: string
  readonly description?: string
  /** The credential that a plain endpoint requires; none if absent. */
  readonly credential?: 'none' | 'session' | 'session or token'
  /** The group in the reference. */
  readonly tag: string
  readonly query?: ZodType
  /** Request headers beyond those that every endpoint accepts. */
  readonly headers?: ZodType
  /** The body of a request that is not metered; a metered one has it in its schema. */
  readonly body?: ZodType
  /** The body of a successful answer; an endpoint without any answer only upgrades. */
  readonly answer?: ZodType
  /** The content type of a successful answer; JSON if absent. */
  readonly answerType?: string
  /** A success is 204, without a body. */
  readonly answersNothing?: true
  /** The format of a streamed answer. */
  readonly stream?: { readonly type: string; readonly description: string }
  /** Returns an example for one of this gateway's own models of the right type. */
  readonly example?: (model: string) => Example
  /**
   * Error statuses that callers may get, beyond 401. If absent, a paid call has those of paid
   * calls.
   */
  readonly errors?: readonly number[]
}

interface EndpointBase {
  readonly method: Method
  /** The first is the canonical one. */
  readonly paths: readonly [string, ...string[]]
  readonly envelope: Envelope
  /** The sites on which it exists, on others its paths are unknown; all sites if absent. */
  readonly sites?: readonly string[]
  readonly documentation: Documentation
}

export interface MeteredEndpoint extends EndpointBase {
  readonly kind: 'metered'
  readonly metering: Metering
  /** Present if requests for background work become tasks. */
  readonly background?: BackgroundSubmission
}

/** Creates a task: paid like a metered call, but answered before the work is done. */
export interface TaskEndpoint extends EndpointBase {
  readonly kind: 'task'
  readonly submission: TaskSubmission
}

/** The services of plain endpoints. */
export interface PlainServices extends Services {
  readonly tasks: Tasks
  readonly files: Files
  /** The results of tasks. */
  readonly library: Library
  readonly usage: UsageReader
  /** Checks every URL in a request. */
  readonly guard: Guard
  readonly webhooks: Webhooks
  /** Addresses for vendor callbacks. */
  readonly callbackAddresses: CallbackAddresses
  /** Returns the reason why this process should get no traffic now, or undefined. */
  readonly notReady: () => Promise<string | undefined>
  readonly publicUrl: string
  readonly sockets: Sockets
  /** Returns all endpoints of this process, for the reference. */
  readonly endpoints: () => readonly Endpoint[]
}

export interface PlainEndpoint extends EndpointBase {
  readonly kind: 'plain'
  readonly handle: (context: Context, services: PlainServices) => Promise<void>
}

export interface AccountEndpoint extends EndpointBase {
  readonly kind: 'account'
  /** Refuses keys of the playground, which every member of an account can create. */
  readonly isForOwners?: true
  readonly handle: (context: Context, caller: Caller, services: PlainServices) => Promise<void>
}

export type Endpoint = MeteredEndpoint | TaskEndpoint | PlainEndpoint | AccountEndpoint
