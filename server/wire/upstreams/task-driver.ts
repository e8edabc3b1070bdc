/**
 * The contract for asynchronous work: a driver prepares an order, submits it and polls it. It keeps
 * no state and makes no decisions: when to poll, what to retry, how to charge and notify belong to
 * the task engine. Every method but `prepare` may send on the wire, and rejects with an
 * `UpstreamFailure` that states what is known about the outcome.
 */
import type { JsonObject } from '../../base/lib/json.ts'
import type { TaskKind } from '../../base/lib/kinds-and-states.ts'
import type { Quantities } from '../../base/lib/units.ts'
import type { VideoRules } from '../dialects/video/content.ts'
import type { UpstreamFailure } from './failure.ts'
import type { Wire } from './wire.ts'

/** Facts that conditions of prices compare, for example `{ resolution: '720p', audio: true }`. */
export type TaskFacts = Readonly<Record<string, string | number | boolean>>

export interface TaskOrder<Settings> {
  readonly settings: Settings
  readonly upstreamModel: string
  /** The caller's request, validated, with the endpoint's defaults filled in. */
  readonly parameters: JsonObject
  /** The names in `parameters` that the caller sent: defaults need not reach every vendor. */
  readonly sentFields: ReadonlySet<string>
  /** The model's `details` of the catalog, where an operator can correct a driver's data. */
  readonly details: JsonObject
}

/** The order as this upstream will accept it, before a hold is placed. */
export interface PreparedTask {
  /** Upper bounds, in every unit that a price may name. */
  readonly quantities: Quantities
  /** The most of each unit, where `quantities` follow a length that a header states. */
  readonly most?: Quantities
  readonly facts: TaskFacts
  /**
   * Parameters as the vendor will apply them, where they may differ from those requested. Shown
   * until the result states what was made.
   */
  readonly effective?: JsonObject
  /**
   * Set if the vendor does not take the recording's format. It is then submitted converted to MP3;
   * the refusal is for a gateway that cannot convert.
   */
  readonly untaken?: UpstreamFailure
}

/** One attempt to submit, with the id that the vendor sees. */
export interface TaskAttempt {
  /** The gateway's id, unique per submission; also as a UUID by `uuidOf`. */
  readonly id: string
  /** The secret URL for vendor callbacks about this submission; it belongs to no other. */
  readonly vendorCallbackUrl?: string | undefined
}

/** Callbacks of a vendor that notifies a URL named in the submission. */
export interface TaskCallbacks<Settings> {
  /** True if the channel’s settings enable vendor callbacks. */
  isEnabled(settings: Settings): boolean
  /** Reads a callback’s body, which anybody may have sent. Pure; never throws. */
  read(body: JsonObject): VendorCallback
}

/** Names the task to poll. Results and amounts in a vendor callback are not read. */
export interface VendorCallback {
  /** The vendor's id of the task. */
  readonly upstreamId?: string | undefined
  /** The reply to a challenge that verifies the URL; such a callback concerns no task. */
  readonly reply?: JsonObject | undefined
}

export interface SubmittedTask {
  readonly upstreamId: string
  /** The error in the same answer: the vendor has the task only if a poll finds it. */
  readonly refusal?: UpstreamFailure
}

export interface TaskReference<Settings> {
  readonly settings: Settings
  readonly upstreamModel: string
  readonly upstreamId: string
  /** The caller's request as it is stored, for vendors whose paths depend on it. */
  readonly parameters?: JsonObject
  /** The length of the task's recording, where the gateway has measured it. */
  readonly recordingSeconds?: number | undefined
}

/**
 * The state of a task as polled. `gone`: the upstream does not know the task. `result` is in the
 * neutral form of the kind; `facts` are now certain; `usage` is absent if the upstream stated none.
 */
export type TaskPoll = PolledState & {
  /** The id in the answer, where it is not the one that was asked for. */
  readonly otherId?: string
}

type PolledState =
  | { readonly state: 'queued' | 'processing' | 'gone' }
  | {
      readonly state: 'succeeded'
      readonly result: JsonObject
      readonly usage?: Quantities
      /** The currency of a stated `vendor_cost`; absent: that of the model. */
      readonly costCurrency?: string | undefined
      /** Quantities measured from the parameters and the result, for use without usage. */
      readonly measured?: Quantities
      readonly facts?: TaskFacts
      /**
       * Usage fields that no price represents: the charge is at least the hold, flagged for review.
       */
      readonly unknownUsage?: readonly string[]
    }
  | {
      readonly state: 'failed'
      readonly code: string
      readonly message: string
      /** True if the caller cancelled the task, so that nothing is billed. */
      readonly cancelled?: boolean
      /** True if the upstream states that it bills the task all the same: no caller pays that. */
      readonly isBilled?: boolean
    }

export interface LostSubmission<Settings> {
  readonly settings: Settings
  readonly upstreamModel: string
  readonly attempt: TaskAttempt
}

/** One entry of the upstream's list, for tasks whose submission was not answered. */
export interface ListedTask {
  readonly upstreamId: string
  readonly createdAt: Date
}

export interface TaskDriver<Settings = unknown> {
  /**
   * Validates an order and returns its upper bounds. Pure. Throws an UpstreamFailure of kind
   * `rejected` whose message and param may be shown to the caller.
   */
  prepare(order: TaskOrder<Settings>): PreparedTask
  /** Returns the rules of a model, as stated to clients. Pure. */
  rules?(model: Pick<TaskOrder<Settings>, 'settings' | 'upstreamModel' | 'details'>): VideoRules
  /** Formats of recordings that the vendor takes, and those that are converted for it. */
  readonly recordings?: { readonly taken: readonly string[]; readonly converted: readonly string[] }
  /** Fields of the request that this driver never reads, so that any value is accepted. */
  readonly ignores?: readonly string[]
  /** Submits the order once. Rejects with `unknown` whenever it may have been accepted. */
  submit(wire: Wire, order: TaskOrder<Settings>, attempt: TaskAttempt): Promise<SubmittedTask>
  poll(wire: Wire, reference: TaskReference<Settings>): Promise<TaskPoll>
  /** Cancels a queued task. Resolves with false if the upstream refuses because it already runs. */
  cancel?(wire: Wire, reference: TaskReference<Settings>): Promise<boolean>
  /**
   * True if the vendor treats repeated submissions with the same attempt id as one: a submission
   * without an answer is then simply sent again.
   */
  readonly repeats?: boolean
  /** Set where the vendor takes an attempt's `vendorCallbackUrl`. */
  readonly callbacks?: TaskCallbacks<Settings>
  /**
   * Finds the task of an attempt without an answer by the id that it carried. Returns undefined if
   * the vendor has none.
   */
  recover?(wire: Wire, lost: LostSubmission<Settings>): Promise<SubmittedTask | undefined>
  /** Lists tasks of one model created since then, newest first, as far as the upstream does. */
  list?(
    wire: Wire,
    query: { readonly settings: Settings; readonly upstreamModel: string; readonly since: Date },
  ): Promise<readonly ListedTask[]>
  /** Returns the methods that depend on a channel's settings, for vendors whose API is data. */
  methodsOf?(settings: Settings): Partial<TaskDriver<Settings>>
}

/** Returns the driver with the methods that its channel has. */
export function withChannel(driver: TaskDriver, settings: unknown): TaskDriver {
  return driver.methodsOf ? { ...driver, ...driver.methodsOf(settings) } : driver
}

export type TaskDrivers<Settings> = Readonly<Partial<Record<TaskKind, TaskDriver<Settings>>>>
