/** What the handlers of the admin API can reach. */
import type { Sql } from 'postgres'
import type { Catalog } from '../catalog/load/snapshot.ts'
import type { PlainServices } from '../endpoints/endpoint.ts'
import type { SecretBox } from '../lib/secrets/secrets.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import type { Live } from './live/live.ts'

export interface AdminServices extends PlainServices {
  readonly sql: Sql
  readonly catalog: Catalog
  readonly secrets: SecretBox
  readonly signIn: SignIn
  /** Tells pages that are open what has changed. */
  readonly live: Live
  readonly system: {
    /** This process among the gateways. */
    readonly ownerId: string
    readonly site: string
    /** Signs payments; without it none are taken. */
    readonly topUpSecret: string | undefined
    /** Every variable with its value, secrets masked. */
    readonly describeConfiguration: () => { name: string; value: string; description: string }[]
  }
}
