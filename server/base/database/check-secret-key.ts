/** Compares SECRET_KEY with the keys that sealed the secrets in the database. */
import type { Sql } from 'postgres'
import type { Log } from '../lib/log.ts'
import type { SecretBox } from '../lib/secrets/secrets.ts'
import { countSealed } from './sealed-store.ts'

const REMEDY =
  'set it to the value of the gateways that stored them; if that is lost, see "Secrets at rest" ' +
  'in docs/guides/keys-and-secrets.md'

/**
 * Returns why this process must get no traffic and do no background work: its SECRET_KEY opens none
 * of the secrets. It could sign no webhook, and would use up the attempts of processes that can.
 * Secrets that are closed beside open ones are only reported, since their key may be lost.
 */
export async function checkSecretKey({
  sql,
  secrets,
  log,
}: {
  readonly sql: Sql
  readonly secrets: Pick<SecretBox, 'keyIds'>
  readonly log: Pick<Log, 'error' | 'warn'>
}): Promise<string | undefined> {
  let [opened, closed] = [0, 0]
  for (const [keyId, count] of await countSealed(sql)) {
    if (secrets.keyIds.has(keyId)) opened += count
    else closed += count
  }
  if (closed === 0) return undefined
  const found = `${opened} of the ${opened + closed} secrets in the database`
  const message = `SECRET_KEY opens ${found}: ${REMEDY}`
  if (opened > 0) {
    log.warn({}, message)
    return undefined
  }
  log.error({}, `${message}. This process finishes no tasks and sends no webhooks or mail`)
  return 'SECRET_KEY opens none of the secrets in the database'
}
