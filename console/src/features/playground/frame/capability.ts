/**
 * Description that a capability's folder exports; the frame around it does the rest: choice of
 * model, price before, sending and stopping, price after, and the same call as code.
 */
import type { ComponentType } from 'react'
import type { RowOf } from '../../../lib/use-admin.ts'
import type { PlaygroundRequest } from './order.ts'

export type PlaygroundModel = RowOf<'GET /accounts/:account_id/models'>

export interface FieldsProps<Values> {
  readonly model: PlaygroundModel
  readonly values: Values
  readonly change: (changes: Partial<Values>) => void
}

export interface ResultProps<Values, Result> {
  readonly values: Values
  /** Output so far; undefined before the first of it. */
  readonly result: Result | undefined
  readonly isRunning: boolean
}

export interface ResultReading<Result> {
  /** performance.now() when the request was sent. */
  readonly startedAt: number
  /** Shows what has come so far. */
  readonly show: (result: Result) => void
}

export interface Capability<Values, Result> {
  readonly initial: Values
  /** Undefined while there is nothing to send. */
  readonly toOrder: (model: PlaygroundModel, values: Values) => PlaygroundRequest | undefined
  /** Reads a good answer to its end. Throws ApiError for one that breaks off. */
  readonly read: (
    response: Response,
    reading: ResultReading<Result>,
    order: PlaygroundRequest,
  ) => Promise<Result>
  readonly Fields: ComponentType<FieldsProps<Values>>
  readonly Result: ComponentType<ResultProps<Values, Result>>
  /** Of a conversation: what is asked next stands below the answers. */
  readonly Prompt?: ComponentType<FieldsProps<Values>>
  /** The form once a request is on its way, and once its answer is there. */
  readonly sent?: (values: Values) => Values
  readonly answered?: (values: Values, result: Result) => Values
}
