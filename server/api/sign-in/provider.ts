/** An OpenID Connect provider, as it is used. */
import type { RoleRule } from './claim-rules.ts'

export interface Provider {
  readonly id: string
  readonly name: string
  /** As the provider writes it, a slash at its end included. */
  readonly issuer: string
  readonly clientId: string
  /** Absent for a client without one, which PKCE alone protects. */
  readonly clientSecret?: string | undefined
  readonly scopes: string
  readonly rules: readonly RoleRule[]
  /** Addresses count as verified where the provider does not say whether they are. */
  readonly trustsEmail: boolean
  /** The reason why it cannot be used, whatever its issuer answers. */
  readonly problem?: string
}

export const DEFAULT_SCOPES = 'openid email profile'
/** The id of the provider in the environment. */
export const ENVIRONMENT_PROVIDER = 'env'
