/** The fields of the form, and what depends on them alone. */
import type { OrderFile } from '../frame/order.ts'

export interface TranscriptionValues {
  readonly file: OrderFile | undefined
  readonly language: string
  readonly prompt: string
  readonly format: string
}

export interface ShownSegment {
  readonly start: number
  readonly end: number
  readonly text: string
}

export interface TranscriptionResult {
  readonly text: string
  readonly segments: readonly ShownSegment[]
}
