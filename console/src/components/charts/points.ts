/** What a chart over time shows: its series and their points. */

export interface Series {
  readonly label: string
  /** A CSS colour. */
  readonly color: string
}

export interface Point {
  /** The beginning of its slot. */
  readonly at: string
  /** One for each series; null where there is nothing to say. */
  readonly values: readonly (number | null)[]
  /** The same, exactly, for people. */
  readonly texts: readonly string[]
}
