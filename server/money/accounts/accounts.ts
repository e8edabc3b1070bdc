/** The caller that an API key identifies, as the pipeline sees it. */
import type { CallLimits } from '../../base/lib/kinds-and-states.ts'
import type { Nanos } from '../../base/lib/money.ts'
import type { Networks } from '../../base/lib/networks.ts'

export interface KeyTags {
  /** Tags of every call. */
  readonly tags: readonly string[]
  /** Callers may add tags of their own. */
  readonly allowTags: boolean
  /** Tags that every call must state. */
  readonly requiredTags: readonly string[]
}

export interface Caller {
  readonly accountId: string
  readonly accountLimits: CallLimits
  readonly currency: string
  /** The price list that its account pays by; null: the base prices. */
  readonly priceList: string | null
  readonly keyId: string
  readonly keyLimits: CallLimits
  /** The first of the keys that rotations replaced by this one: they share its limits. */
  readonly limitKeyId?: string
  /** Model ids this key may call; null means all. */
  readonly models: readonly string[] | null
  readonly spendLimitNanos: Nanos | null
  /** Absent if the key has no tags, requires none and accepts none. */
  readonly tagging?: KeyTags
  /** If true, the body of every answer that has usage states the charge. */
  readonly costInAnswers?: true
  /** A key that any member of the account can have: it can make calls but reads no secrets. */
  readonly isPlayground?: true
  /** The end user of its calls, whomever the calls name. */
  readonly endUser?: string
}

/** The result of looking up a presented key; `left`: its member has left the account. */
export type Identified = (
  | { readonly caller: Caller }
  | { readonly refused: 'unknown' | 'disabled' | 'expired' | 'suspended' | 'left' }
) & {
  /**
   * The address of a call must be in each of these lists: that of the key and that of its account.
   */
  readonly allowed?: readonly Networks[]
}
