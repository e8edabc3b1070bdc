/** The data of a chart over time: its series and their points. */

export interface Series {
  readonly label: string
  /** A CSS colour. */
  readonly color: string
}

export interface Point {
  /** The beginning of its slot. */
  readonly at: string
  /** One for each series; null for no value. */
  readonly values: readonly (number | null)[]
  /** The exact values as text. */
  readonly texts: readonly string[]
}
