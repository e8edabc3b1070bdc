/** The services that the parts of sign-in share. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Sql, TransactionSql } from 'postgres'
import type { Addresses } from '../../base/http/connections/client-address.ts'
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
  /** Returns the demo while this gateway has no channels but the simulators'. */
  readonly demo: () => DemoIdentity | undefined
}

export interface OidcParts {
  readonly relyingParty: RelyingParty
  /** The provider that environment variables name. */
  readonly provider: Provider | undefined
  /** Returns why an issuer must not be used, or undefined. */
  readonly refuseIssuer: (issuer: string) => string | undefined
  /** True if everybody may become a person, and not only those who are invited or have a rule. */
  readonly isSignUpOpen: boolean
}

/** Returns false if the address gets too much mail. */
export type MailLink = (
  sql: TransactionSql,
  mail: {
    readonly kind: 'invitation'
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
