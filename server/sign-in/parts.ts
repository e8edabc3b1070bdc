/** What the parts of signing in share. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Sql } from 'postgres'
import type { SecretBox } from '../lib/secrets/secrets.ts'
import type { Passwords } from './password-hashes.ts'
import type { ConsolePlace } from './place.ts'
import type { Addresses } from './rates/client-address.ts'
import type { Throttle } from './rates/throttle.ts'

export interface SignInParts {
  readonly sql: Sql
  readonly secrets: SecretBox
  readonly place: ConsolePlace
  readonly passwords: Passwords
  readonly throttle: Throttle
  readonly addresses: Addresses
  /** Unix milliseconds: what authenticator apps count in. */
  readonly nowMs: () => number
  /** Whether operators have to prove a second factor before anything that asks for a step-up. */
  readonly operatorsNeedFactor: () => boolean
}

/** The request that is answered: cookies are read from the one and set on the other. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}
