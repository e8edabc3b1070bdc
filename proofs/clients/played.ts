/** One scene that was played. */
export interface Played {
  readonly client: string
  readonly model: string
  readonly scene: string
  /** Usage records: one for every request of the client. */
  readonly records: number
  readonly chargedNanos: string
  readonly bookedNanos: string
  readonly breaks: readonly string[]
}
