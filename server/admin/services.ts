/** What the handlers of the admin API can reach. */
import type { Sql } from 'postgres'
import type { PlainServices } from '../endpoints/endpoint.ts'
import type { SecretBox } from '../lib/secrets.ts'
import type { Sessions } from '../sign-in/session.ts'

export interface AdminServices extends PlainServices {
  readonly sql: Sql
  readonly secrets: SecretBox
  readonly signIn: Sessions
}
