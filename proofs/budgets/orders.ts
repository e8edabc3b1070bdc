/** Messages between the proof and its gateways. */
export interface ProofCaller {
  readonly accountId: string
  readonly keyId: string
}

export interface Order {
  readonly seed: number
  readonly calls: number
  readonly callers: [ProofCaller, ...ProofCaller[]]
  /** Calls of one unit each that all gateways send at once. */
  readonly race: { readonly caller: ProofCaller; readonly calls: number }
}

export interface RoundEnd {
  readonly held: number
  readonly refused: number
  readonly raced: number
  /** Outcomes that no call should have. */
  readonly other: readonly string[]
}
