/** Who is signed in, and what the admin API needs to know and to have done about it. */
import type { IncomingMessage } from 'node:http'
import type { PersonLanguage } from '../person-store.ts'

export interface Membership {
  readonly accountId: string
  readonly accountName: string
  readonly role: 'owner' | 'member'
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
  /** Until then the session counts as having proved itself again. */
  readonly steppedUpUntil: Date | undefined
  /** An operator who must set up a second factor before anything that asks for a step-up. */
  readonly secondFactorMissing: boolean
  /** Absent: a person is there themselves, in a browser. */
  readonly token?: TokenUse
}

/** The access token that stands in for a sign-in. */
export interface TokenUse {
  readonly id: string
  readonly name: string
  readonly display: string
  readonly scope: 'read' | 'write'
  /** Whether it may do what asks people for a fresh proof. */
  readonly isSensitive: boolean
  readonly expiresAt: Date | null
}

/** One line of the audit log. `details` never hold a secret. */
export interface AuditRow {
  readonly request: IncomingMessage
  readonly userId: string
  /** By which access token. */
  readonly tokenId: string | undefined
  readonly accountId: string | undefined
  /** What was done, for example the key of a route. */
  readonly action: string
  /** The ids it was done to. */
  readonly target: string
  readonly details: Readonly<Record<string, unknown>>
}

export interface Sessions {
  /**
   * Who the request comes from: by its bearer token or, only where it has none, by the session of
   * its cookie, if there is one that still lives. Looking at it `quietly` does not keep it alive.
   * Throws 401 for a token that is worth nothing.
   */
  identifySession(
    request: IncomingMessage,
    how?: { readonly quietly?: boolean },
  ): Promise<Session | undefined>
  /**
   * Throws 403 for an unsafe request that a page of another origin may have made: never for one
   * with a bearer token, which no browser adds by itself.
   */
  requireCsrf(request: IncomingMessage): void
  writeAudit(row: AuditRow): Promise<void>
}
