/** The fields of the form, and what depends on them alone. */
import type { OrderFile } from '../frame/order.ts'

export interface InterpretationValues {
  readonly file: OrderFile | undefined
  readonly mode: 's2t' | 's2s'
  readonly source: string
  readonly target: string
  readonly voice: string
}

export interface InterpretationResult {
  readonly sourceText: string
  readonly text: string
  readonly bytes: number
  readonly firstMs: number | undefined
  readonly sound: Blob | undefined
}
