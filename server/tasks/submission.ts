/** What an endpoint that creates tasks declares; the engine does the rest. */
import type { JsonObject } from '../lib/json.ts'
import type { Body, Metering, RequestMetering } from '../pipeline/metering.ts'
import type { TaskKind } from '../upstreams/task-driver.ts'
import type { CallRequest } from '../upstreams/upstream.ts'
import type { TaskPorts } from './ports.ts'
import type { TaskRow } from './task.ts'

export interface TaskSubmission extends RequestMetering {
  readonly kind: TaskKind
  /** Returns the request with the endpoint's defaults filled in. */
  readonly parameters: (value: Body) => JsonObject
  /** The caller's own task that the order builds on: one that is not theirs is not found. */
  readonly source?: {
    readonly id: (parameters: JsonObject) => string
    /** The parameters with what it adds. Throws GatewayError when it cannot be used. */
    readonly use: (parameters: JsonObject, source: SourceTask) => JsonObject
  }
  /** What a look at the caller's own files adds. Throws GatewayError when they cannot be used. */
  readonly inspect?: (parameters: JsonObject, ports: TaskPorts) => Promise<JsonObject>
  /** A question to a model when the upstream has succeeded. */
  readonly afterwards?: Afterwards
  /** The part of the parameters that is kept with the task: never what the caller wrote or drew. */
  readonly keep: (parameters: JsonObject) => JsonObject
  /** URLs of the caller that somebody will connect to, by the field that named them. */
  readonly urls: (parameters: JsonObject) => readonly NamedUrl[]
  /** Set where the upstream's answer is the work itself: then a worker makes this call. */
  readonly call?: DeferredCall
  /** Set where the upstream makes the work after its answer, which goes through as it is. */
  readonly background?: BackgroundWork
  /** The answer to the creation, with status 200. */
  readonly answer: (task: TaskRow) => unknown
  /** The payload of the webhook at the task's end. */
  readonly webhookBody: (task: TaskRow) => unknown
}

/** A part of the result that a chat model makes of the upstream's. */
export interface Afterwards {
  /** The member of the model's `details` that names the chat model; absent: nothing is asked. */
  readonly setting: string
  /** The question as a chat completion's body without its model; undefined: nothing to ask. */
  readonly ask: (result: JsonObject, task: TaskRow) => JsonObject | undefined
  /** What the answer adds to the result. */
  readonly read: (text: string, result: JsonObject) => JsonObject
}

export interface DeferredCall {
  readonly metering: Metering
  /** The caller's body without what only the task needs. */
  readonly body: (request: CallRequest) => Buffer
  /** Of the request, for whoever hears of the end: it is not kept with the task. */
  readonly remember: (value: Body) => JsonObject
  /** From the upstream's document to a result, or to why there is none. */
  readonly read: (document: unknown, tools: AnswerTools) => Promise<CallResult>
}

/** A call whose work goes on at the upstream: quoted and charged by the call's own metering. */
export interface BackgroundWork {
  readonly metering: Metering
  readonly asks: (value: Body) => boolean
  /** The caller's body without what only the task needs. */
  readonly body: (request: CallRequest) => Buffer
}

export type CallResult =
  | { readonly result: JsonObject }
  | { readonly code: string; readonly message: string }

export interface AnswerTools {
  /** Stores content that came as bytes, and says under which link it will be found. */
  readonly keep: (content: Buffer) => Promise<string>
  /** Whether the task is charged by the token. */
  readonly byToken: boolean
}

export interface SourceTask extends TaskRow {
  /** Since its end, by the database's clock. */
  readonly finished_ms: number | null
}

export interface NamedUrl {
  readonly field: string
  readonly url: string
}
