/** The session of a request, as the admin API uses it. */
import type { IncomingMessage } from 'node:http'
import type { MemberRole } from '../../../base/lib/member-roles.ts'
import type { PersonLanguage } from '../person-store.ts'

export interface Membership {
  readonly accountId: string
  readonly accountName: string
  readonly role: MemberRole
}

export interface Session {
  readonly sessionId: string
  readonly user: {
    readonly id: string
    readonly email: string
    readonly name: string
    readonly language: PersonLanguage
    readonly operator: boolean
  }
  readonly memberships: readonly Membership[]
  /** The session counts as stepped up until this time. */
  readonly steppedUpUntil: Date | undefined
  /**
   * True for an operator who must set up a second factor before anything that requires a step-up.
   */
  readonly secondFactorMissing: boolean
  /** Absent in the session of a browser. */
  readonly token?: TokenUse
}

/** The access token of a request. */
export interface TokenUse {
  readonly id: string
  readonly name: string
  readonly display: string
  readonly scope: 'read' | 'write'
  /** True if the token may call routes that require a step-up from people. */
  readonly isSensitive: boolean
  readonly expiresAt: Date | null
}

/** One row of the audit log. `details` never contain a secret. */
export interface AuditRow {
  readonly request: IncomingMessage
  readonly userId: string
  /** The access token that the actor used. */
  readonly tokenId: string | undefined
  readonly accountId: string | undefined
  /** The act, for example the key of a route. */
  readonly action: string
  /** The ids acted upon. */
  readonly target: string
  readonly details: Readonly<Record<string, unknown>>
}

export interface Sessions {
  /**
   * Returns the session of the bearer token or, without one, of the session cookie; undefined if
   * there is no valid one. `quietly` does not extend the session. Throws 401 for an invalid token.
   */
  identifySession(
    request: IncomingMessage,
    how?: { readonly quietly?: boolean },
  ): Promise<Session | undefined>
  /**
   * Throws 403 for an unsafe request that a page of another origin may have sent. Never for one
   * with a bearer token, which browsers do not add by themselves.
   */
  requireCsrf(request: IncomingMessage): void
  writeAudit(row: AuditRow): Promise<void>
}
