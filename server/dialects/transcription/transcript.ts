/** A recording as text, in a neutral form: what was said, and when. */

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
  /** How long the recording is; undefined where nobody said so. */
  readonly seconds?: number
  readonly segments: readonly Segment[]
}
