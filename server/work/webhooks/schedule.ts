/** Retry delays and limits of webhook deliveries, as documented to customers. */

/** Delay after the first, second and third failed attempt. */
export const DELAYS_MS: readonly number[] = [5_000, 30_000, 300_000]

/** Limits of one attempt, and of concurrent attempts. */
export interface SendingLimits {
  /** Timeout from the DNS lookup to the headers of the receiver's response. */
  readonly budgetMs: number
  /** Timeout of the response body, whose head is kept for the account's owner. */
  readonly bodyMs: number
  readonly bodyBytesMax: number
  /** Concurrent attempts of this process. */
  readonly slots: number
  /** Concurrent attempts to one host and port, over all processes. */
  readonly perHost: number
  /** Concurrent attempts of one account, over all processes. */
  readonly perAccount: number
  /** Longer than an attempt can take: one that outlives it is lost. */
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
