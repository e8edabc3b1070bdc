/**
 * The contract for work that lasts: a driver prepares an order, submits it, and looks at it. It
 * keeps nothing and decides nothing: when to look, what to repeat, what a state costs and who is
 * told are the task engine's business. Every method but `prepare` may send on the wire, and throws
 * an `UpstreamFailure` that says what is known about the outcome.
 */
import type { JsonObject } from '../lib/json.ts'
import type { Quantities } from '../lib/units.ts'
import type { Wire } from './wire.ts'

/** What the gateway sells as tasks. */
export type TaskKind = 'video' | 'minutes' | 'erase' | 'image' | 'response'

/** Facts that conditions of prices compare, for example `{ resolution: '720p', audio: true }`. */
export type TaskFacts = Readonly<Record<string, string | number | boolean>>

export interface TaskOrder<Settings> {
  readonly settings: Settings
  readonly upstreamModel: string
  /** The caller's request, checked for shape, with the endpoint's defaults filled in. */
  readonly parameters: JsonObject
  /** Which of `parameters` the caller really sent: defaults need not reach every vendor. */
  readonly sentFields: ReadonlySet<string>
  /** The model's `details` of the catalog, where an operator can correct a driver's data. */
  readonly details: JsonObject
}

/** The order as this upstream will take it, before any money is held. */
export interface PreparedTask {
  /** The most it can come to, in every unit that a price may name. */
  readonly quantities: Quantities
  readonly facts: TaskFacts
}

/** One submission, as the vendor may be told of it. */
export interface TaskAttempt {
  /** Ours, and of no other submission; also as a UUID by `uuidOf`. */
  readonly id: string
  /** Where the vendor may report on this submission: a secret address of ours, and of no other. */
  readonly vendorCallbackUrl?: string | undefined
}

/** A vendor that reports on its tasks by itself, at an address that the submission carried. */
export interface TaskCallbacks<Settings> {
  /** Whether this channel wants such reports. */
  isEnabled(settings: Settings): boolean
  /** What a report says of the task. Pure, of whatever anybody may have sent. Never throws. */
  read(body: JsonObject): VendorCallback
}

/** Only where to look: what a report says of results and money is not read. */
export interface VendorCallback {
  /** The vendor's id of the task. */
  readonly upstreamId?: string | undefined
  /** A question whether the address is ours, and its answer; then it reports on nothing. */
  readonly reply?: JsonObject | undefined
}

export interface SubmittedTask {
  readonly upstreamId: string
}

export interface TaskReference<Settings> {
  readonly settings: Settings
  readonly upstreamModel: string
  readonly upstreamId: string
}

/**
 * What the upstream says of a task. `gone`: it knows no such task. `result` is in the neutral form
 * of the kind; `facts` are those that are now known for certain; `usage` is absent when the
 * upstream stated none.
 */
export type TaskPoll =
  | { readonly state: 'queued' | 'processing' | 'gone' }
  | {
      readonly state: 'succeeded'
      readonly result: JsonObject
      readonly usage?: Quantities
      /** What the parameters and the result come to, for the case without usage. */
      readonly measured?: Quantities
      readonly facts?: TaskFacts
      /** Fields that no price can stand for: the charge is the hold at least, for review. */
      readonly unknownUsage?: readonly string[]
    }
  | {
      readonly state: 'failed'
      readonly code: string
      readonly message: string
      /** cancelled: nothing is billed because the caller took it back. */
      readonly cancelled?: boolean
    }

export interface LostSubmission<Settings> {
  readonly settings: Settings
  readonly upstreamModel: string
  readonly attempt: TaskAttempt
}

/** One entry of the upstream's own list, for tasks whose submission had no answer. */
export interface ListedTask {
  readonly upstreamId: string
  readonly createdAt: Date
}

export interface TaskDriver<Settings = unknown> {
  /**
   * Judges an order and says what it can come to at most. Pure. Throws an UpstreamFailure of kind
   * `rejected` whose message and param are fit for the caller.
   */
  prepare(order: TaskOrder<Settings>): PreparedTask
  /** Sends it once. `unknown` is the answer for everything that may have been accepted. */
  submit(wire: Wire, order: TaskOrder<Settings>, attempt: TaskAttempt): Promise<SubmittedTask>
  poll(wire: Wire, reference: TaskReference<Settings>): Promise<TaskPoll>
  /** Takes back a task that waits. False when the upstream refuses because it already runs. */
  cancel?(wire: Wire, reference: TaskReference<Settings>): Promise<boolean>
  /**
   * Set where the vendor takes the same submission twice as one, because it carries the attempt's
   * id: one whose answer was lost is then simply sent again.
   */
  readonly repeats?: boolean
  /** Set where the vendor takes an attempt's `vendorCallbackUrl`. */
  readonly callbacks?: TaskCallbacks<Settings>
  /**
   * Asks for the task of an attempt whose answer was lost, by the id that it carried. Undefined
   * when the vendor knows of none.
   */
  recover?(wire: Wire, lost: LostSubmission<Settings>): Promise<SubmittedTask | undefined>
  /** Tasks of one model created since then, newest first, as far as the upstream tells. */
  list?(
    wire: Wire,
    query: { readonly settings: Settings; readonly upstreamModel: string; readonly since: Date },
  ): Promise<readonly ListedTask[]>
}

export type TaskDrivers<Settings> = Readonly<Partial<Record<TaskKind, TaskDriver<Settings>>>>
