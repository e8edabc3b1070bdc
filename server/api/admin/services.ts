/** The services available to handlers of the admin API. */
import type { Sql } from 'postgres'
import type { SecretBox } from '../../base/lib/secrets/secrets.ts'
import type { Accounts } from '../../money/accounts/identify.ts'
import type { Catalog } from '../../money/catalog/load/snapshot.ts'
import type { PlainServices } from '../endpoints/endpoint.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import type { Live } from './live/live.ts'

export interface ShownVariable {
  readonly name: string
  /** The value in effect; a secret is masked. */
  readonly value: string
  readonly default: string
  readonly description: string
}

export interface AdminServices extends PlainServices {
  readonly sql: Sql
  readonly catalog: Catalog
  readonly accounts: Pick<Accounts, 'identify' | 'checkToken'>
  readonly secrets: SecretBox
  readonly signIn: SignIn
  /** Sends changes to open pages. */
  readonly live: Live
  readonly system: {
    /** This process's id among the gateways. */
    readonly ownerId: string
    readonly site: string
    /** Verifies payments; without it the gateway accepts none. */
    readonly topUpSecret: string | undefined
    /** Returns false while live gateways keep files in different places. */
    readonly areFilesShared: () => boolean
    /** Returns every environment variable. */
    readonly describeConfiguration: () => ShownVariable[]
  }
}
