/** The services that the parts of sign-in share. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Sql, TransactionSql } from 'postgres'
import type { Addresses } from '../../base/http/connections/client-address.ts'
import type { Nanos } from '../../base/lib/money.ts'
import type { SecretBox } from '../../base/lib/secrets/secrets.ts'
import type { ConsoleAddress } from './console-address.ts'
import type { Passwords } from './password-hashes.ts'
import type { PersonLanguage } from './person-store.ts'
import type { Provider } from './provider.ts'
import type { Throttle } from './rates/throttle.ts'
import type { RelyingParty } from './relying-party.ts'

export interface SignInParts {
  readonly sql: Sql
  readonly secrets: SecretBox
  readonly consoleAddress: ConsoleAddress
  readonly passwords: Passwords
  readonly throttle: Throttle
  readonly addresses: Addresses
  /** Returns Unix milliseconds, which authenticator apps count in. */
  readonly nowMs: () => number
  /** True if operators must set up a second factor before anything that requires a step-up. */
  readonly operatorsNeedFactor: () => boolean
  /** Enqueues mail with a link, within a transaction; undefined where no mail is set. */
  readonly mailLink: MailLink | undefined
  /** Signing in with OpenID Connect; undefined on the command line. */
  readonly oidc: OidcParts | undefined
  /** Signing up; undefined on the command line. */
  readonly signUp: SignUpParts | undefined
  /** Returns the demo while this gateway has no channels but the simulators'. */
  readonly demo: () => DemoIdentity | undefined
}

export interface OidcParts {
  readonly relyingParty: RelyingParty
  /** The provider that environment variables name. */
  readonly provider: Provider | undefined
  /** Returns why an issuer must not be used, or undefined. */
  readonly refuseIssuer: (issuer: string) => string | undefined
}

/** Signing up: whoever confirms an address gets an account without an invitation. */
export interface SignUpParts {
  readonly isOpen: boolean
  /** In lower case; empty: all. */
  readonly domains: readonly string[]
  /** The address of the terms that have to be accepted. */
  readonly terms: string | undefined
  readonly grant: {
    readonly amountNanos: Nanos
    readonly currency: string
    /** Most of them to one network, and in all, within 24 hours. */
    readonly perNetwork: number
    readonly perDay: number
  }
  /** Opens an account, with the grant in its books, within a transaction. Returns its id. */
  openAccount(
    sql: TransactionSql,
    account: {
      readonly name: string
      readonly currency: string
      readonly grantNanos: Nanos
      /** The grant is posted once for it. */
      readonly eventId: string
    },
  ): Promise<string>
}

/** Returns false if the address gets too much mail. */
export type MailLink = (
  sql: TransactionSql,
  mail: {
    readonly kind: 'invitation' | 'sign_up'
    readonly address: string
    readonly language: PersonLanguage
    readonly link: string
    readonly expiresAt: Date
    readonly account?: string | undefined
    readonly role?: string | undefined
  },
) => Promise<boolean>

/** The demo's user, account and key. */
export interface DemoIdentity {
  readonly email: string
  readonly accountId: string
  readonly apiKey: string
}

/** One HTTP exchange: cookies are read from its request and set on its response. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}
