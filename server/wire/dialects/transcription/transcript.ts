/** A transcript in the neutral form: texts with their times. */

export interface SpokenWord {
  readonly word: string
  /** Seconds, as all times here. */
  readonly start: number
  readonly end: number
}

export interface Segment {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly words: readonly SpokenWord[]
}

export interface Transcript {
  readonly text: string
  /** A code, for example "en". */
  readonly language: string
  /** Seconds of the recording; undefined where the vendor did not state them. */
  readonly seconds?: number
  readonly segments: readonly Segment[]
}
