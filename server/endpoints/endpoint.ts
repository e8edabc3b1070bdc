/**
 * What an endpoint file declares. A metered endpoint says how its calls are read and billed and
 * the pipeline does the rest; a plain one answers by itself. Both document themselves: the API
 * reference is generated from these declarations.
 */
import type { ZodType } from 'zod'
import type { Caller } from '../accounts/accounts.ts'
import type { Library } from '../assets/library/library.ts'
import type { Files } from '../assets/uploads/files.ts'
import type { Context } from '../http/context.ts'
import type { Envelope } from '../http/envelope.ts'
import type { Method } from '../http/router.ts'
import type { Guard } from '../outbound/guard.ts'
import type { Metering } from '../pipeline/metering.ts'
import type { Services } from '../pipeline/services.ts'
import type { BackgroundSubmission } from '../tasks/background/background-order.ts'
import type { CallbackAddresses } from '../tasks/callbacks/callback-addresses.ts'
import type { TaskSubmission } from '../tasks/submission.ts'
import type { Tasks } from '../tasks/tasks.ts'
import type { UsageReader } from '../usage/usage.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'

/** A request that works and what it is answered with; both must pass the endpoint's schemas. */
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
  /** What a plain endpoint asks for; nothing when absent. */
  readonly credential?: 'none' | 'session' | 'session or token'
  /** The group in the reference. */
  readonly tag: string
  readonly query?: ZodType
  /** Request headers beyond those that every endpoint understands. */
  readonly headers?: ZodType
  /** The body of a request that is not metered; a metered one has it in its schema. */
  readonly body?: ZodType
  /** The body of a successful answer; an endpoint without any answer always refuses. */
  readonly answer?: ZodType
  /** The content type of a successful answer; JSON when absent. */
  readonly answerType?: string
  /** A success is 204, with nothing to read. */
  readonly answersNothing?: true
  /** How an answer looks that a caller asked to be streamed. */
  readonly stream?: { readonly type: string; readonly description: string }
  /** Made for one of this gateway's own models of the right type. */
  readonly example?: (model: string) => Example
  /** Error statuses a caller may see, beyond 401. */
  readonly errors?: readonly number[]
}

interface Declared {
  readonly method: Method
  /** The first is the canonical one. */
  readonly paths: readonly [string, ...string[]]
  readonly envelope: Envelope
  /** Where it exists; on other sites its paths are unknown. Everywhere when absent. */
  readonly sites?: readonly string[]
  readonly documentation: Documentation
}

export interface MeteredEndpoint extends Declared {
  readonly kind: 'metered'
  readonly metering: Metering
  /** Requests that ask for work in the background become tasks. */
  readonly background?: BackgroundSubmission
}

/** Creates a task: paid like a metered call, but answered before the work is done. */
export interface TaskEndpoint extends Declared {
  readonly kind: 'task'
  readonly submission: TaskSubmission
}

/** What plain endpoints can reach. */
export interface PlainServices extends Services {
  readonly tasks: Tasks
  readonly files: Files
  /** What tasks made. */
  readonly library: Library
  readonly usage: UsageReader
  /** Judges every URL that a caller gives. */
  readonly guard: Guard
  readonly webhooks: Webhooks
  /** Addresses for vendors' reports. */
  readonly callbackAddresses: CallbackAddresses
  /** Why this process should get no traffic now, or undefined when it should. */
  readonly notReady: () => Promise<string | undefined>
  readonly publicUrl: string
  /** Everything that this process answers, for the reference. */
  readonly endpoints: () => readonly Endpoint[]
}

export interface PlainEndpoint extends Declared {
  readonly kind: 'plain'
  readonly handle: (context: Context, services: PlainServices) => Promise<void>
}

export interface AccountEndpoint extends Declared {
  readonly kind: 'account'
  /** Not for keys of the playground, which every member of an account can make. */
  readonly isForOwners?: true
  readonly handle: (context: Context, caller: Caller, services: PlainServices) => Promise<void>
}

export type Endpoint = MeteredEndpoint | TaskEndpoint | PlainEndpoint | AccountEndpoint
