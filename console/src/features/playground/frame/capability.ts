/**
 * The contract of a capability's folder. The frame does the rest: model selection, quote, sending
 * and stopping, settled cost, and the call as code.
 */
import type { ComponentType } from 'react'
import type { Language } from '../../../lib/language.ts'
import { type Names, nameIn } from '../../../lib/texts.ts'
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
  /** Output so far; undefined before the first part. */
  readonly result: Result | undefined
  readonly isRunning: boolean
}

export interface ResultReading<Result> {
  /** performance.now() when the request was sent. */
  readonly startedAt: number
  /** Shows the partial result. */
  readonly show: (result: Result) => void
}

export interface Capability<Values, Result> {
  readonly initial: Values
  /** Texts that fields begin with, in both languages; the others are as in `initial`. */
  readonly samples?: { readonly [Field in keyof Values]?: Names }
  /** Returns the request; undefined while there is nothing to send. */
  readonly toOrder: (model: PlaygroundModel, values: Values) => PlaygroundRequest | undefined
  /** Reads a successful answer to its end. Throws ApiError if it breaks off. */
  readonly read: (
    response: Response,
    reading: ResultReading<Result>,
    order: PlaygroundRequest,
  ) => Promise<Result>
  readonly Fields: ComponentType<FieldsProps<Values>>
  readonly Result: ComponentType<ResultProps<Values, Result>>
  /** Input for the next message of a conversation, below the answers. */
  readonly Prompt?: ComponentType<FieldsProps<Values>>
  /** Updates the form after sending and after the answer. */
  readonly afterSend?: (values: Values) => Values
  readonly afterAnswer?: (values: Values, result: Result) => Values
}

/** Returns the values of a new form. */
export function startIn<Values, Result>(
  language: Language,
  { initial, samples }: Pick<Capability<Values, Result>, 'initial' | 'samples'>,
): Values {
  const fields: [string, Names][] = Object.entries(samples ?? {})
  const texts = fields.map(([field, names]) => [field, nameIn(language, names)])
  return { ...initial, ...Object.fromEntries(texts) }
}
