/** An issuer of tokens that are accepted in place of API keys, as the catalog defines it. */
import type { CallLimits } from './kinds-and-states.ts'

/** The name of a claim, or a path such as `realm_access.roles` where no claim has that name. */
export interface ClaimRule {
  readonly claim: string
}

export interface TokenIssuer {
  readonly id: string
  /** The `iss` of its tokens, to the letter. */
  readonly issuer: string
  readonly audience: string
  /** Absent: from its OpenID Connect discovery. */
  readonly jwks_uri?: string | undefined
  readonly algorithms: readonly string[]
  /** An account, or the claim that names it, by id or by the words of `accounts`. */
  readonly account:
    | string
    | (ClaimRule & { readonly accounts?: Readonly<Record<string, string>> | undefined })
  /** The claim with the address of a member of the account. */
  readonly member?: ClaimRule | undefined
  readonly tags?: ClaimRule | undefined
  readonly end_user?: ClaimRule | undefined
  /** Null: every model. */
  readonly models: readonly string[] | null
  /** The limits of each subject. */
  readonly limits: CallLimits
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** Returns true for the address of an issuer or of its keys: https, or http on this machine. */
export function isIssuerUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.hash !== '' || url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname))
}
