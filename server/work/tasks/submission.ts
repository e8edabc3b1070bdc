/** The declaration of an endpoint that creates tasks. */
import type { JsonObject } from '../../base/lib/json.ts'
import type { TaskKind } from '../../base/lib/kinds-and-states.ts'
import type { CallRequest } from '../../wire/upstreams/upstream.ts'
import type { Body, Metering, RequestMetering } from '../pipeline/metering.ts'
import type { TaskPorts } from './ports.ts'
import type { TaskRow } from './task.ts'

export interface TaskSubmission extends RequestMetering {
  readonly kind: TaskKind
  /** Returns the request with the endpoint's defaults filled in. Throws GatewayError. */
  readonly parameters: (value: Body) => JsonObject
  /** The account's own task that the new one builds on; any other is not found. */
  readonly source?: {
    /** Undefined if the request builds on none. */
    readonly id: (parameters: JsonObject) => string | undefined
    /**
     * Returns the parameters completed from it; `source_channel` is the only channel that can use
     * it. Throws GatewayError when it cannot be used.
     */
    readonly use: (parameters: JsonObject, source: SourceTask) => JsonObject
  }
  /** Returns the parameters completed from the caller's files. Rejects with GatewayError. */
  readonly inspect?: (parameters: JsonObject, ports: TaskPorts) => Promise<JsonObject>
  /** A call to a chat model after the upstream has succeeded. */
  readonly followUp?: FollowUp
  /** Returns the parameters stored with the task: never the caller's texts or media. */
  readonly keep: (parameters: JsonObject) => JsonObject
  /** Returns the caller's URLs that will be fetched, with their fields. */
  readonly urls: (parameters: JsonObject) => readonly NamedUrl[]
  /** Set if the work is one synchronous upstream call, which a worker then makes. */
  readonly call?: DeferredCall
  /** Set if the upstream keeps working after it has answered; the answer is passed on unchanged. */
  readonly background?: BackgroundWork
  /** The parameter with the address of a recording, which a worker may convert beforehand. */
  readonly recording?: 'file_url'
  /** Returns the body of the creation's response, with status 200. */
  readonly answer: (task: TaskRow) => unknown
  /** Returns the webhook payload of the task's end. */
  readonly webhookBody: (task: TaskRow) => unknown
}

/** A part of the result that a chat model generates from the upstream's result. */
export interface FollowUp {
  /** The member of the model's `details` that names the chat model; without it, no call. */
  readonly setting: string
  /** Returns a chat completion's body without its model; undefined for no call. */
  readonly request: (result: JsonObject, task: TaskRow) => JsonObject | undefined
  /** Returns the members that the answer adds to the result. */
  readonly read: (text: string, result: JsonObject) => JsonObject
}

/** A synchronous upstream call that a worker makes. */
export interface DeferredCall {
  readonly metering: Metering
  /** The members of the caller's body that only the task needs, or that do not apply to it. */
  readonly removed: readonly string[]
  /** Returns members of the request for the gallery entry; they are not stored with the task. */
  readonly galleryDetails: (value: Body) => JsonObject
  /** Reads a result, or the reason why there is none, from the upstream's document. */
  readonly read: (document: unknown, tools: AnswerTools) => Promise<CallResult>
}

/** A call that the upstream finishes in the background, charged by the call's own metering. */
export interface BackgroundWork {
  readonly metering: Metering
  /** Returns whether the request asks for the background. */
  readonly isRequested: (value: Body) => boolean
  /** Returns the caller's body without the members that only the task needs. */
  readonly body: (request: CallRequest) => Buffer
}

export type CallResult =
  | { readonly result: JsonObject }
  | { readonly code: string; readonly message: string }

export interface AnswerTools {
  /** Stores content that arrived as bytes. Resolves with its future link. */
  readonly keep: (content: Buffer) => Promise<string>
  /** True if the task is charged by token. */
  readonly byToken: boolean
}

export interface SourceTask extends TaskRow {
  /** Milliseconds since its end, by the database's clock. */
  readonly finished_ms: number | null
}

export interface NamedUrl {
  readonly field: string
  readonly url: string
}
