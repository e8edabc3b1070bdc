/** Labels under which a call is counted besides its account, key and model; its record has them. */
export interface CallLabels {
  readonly tags?: readonly string[]
  /** The person behind the call, as the caller names them. */
  readonly end_user?: string
  /** The version of the model's base price, where another price is charged. */
  readonly base_version?: number
}
