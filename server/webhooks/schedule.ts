/** When a webhook is sent again: the product's promise, as data. */

/** The wait after the first, second and third failed attempt. */
export const DELAYS_MS: readonly number[] = [5_000, 30_000, 300_000]

/** How one attempt is limited, and what may go on beside it. */
export interface SendingLimits {
  /** From the look-up of the receiver's name to the head of its answer. */
  readonly budgetMs: number
  /** For the body of the answer, of which a little is kept for the owner of the receiver. */
  readonly bodyMs: number
  readonly bodyBytesMax: number
  /** Attempts at once by this process. */
  readonly slots: number
  /** Attempts at once to one host and port, by all processes. */
  readonly perHost: number
  /** Attempts at once for one account, by all processes. */
  readonly perAccount: number
  /** Longer than an attempt can take: what is silent for so long is lost. */
  readonly leaseMs: number
}

export const SENDING_LIMITS: SendingLimits = {
  budgetMs: 10_000,
  bodyMs: 1_000,
  bodyBytesMax: 64 * 1024,
  slots: 128,
  perHost: 4,
  perAccount: 24,
  leaseMs: 20_000,
}
