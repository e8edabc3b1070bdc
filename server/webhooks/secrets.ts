/**
 * The secret that signs an account's webhooks. It comes into being when it is first needed, is
 * sealed at rest, and after a rotation the one before signs beside it for a day.
 */
import type { Sql } from 'postgres'
import { randomText } from '../lib/ids.ts'
import { OperatorError } from '../lib/operator-error.ts'
import { type SecretBox, sealedWith } from '../lib/secrets/secrets.ts'
import {
  createSecret,
  lockSealed,
  readSecret,
  replaceSecret,
  resealSecrets,
  type SecretRow,
} from './secret-store.ts'
import type { SigningSecrets } from './sign.ts'

export interface WebhookSecret extends SigningSecrets {
  readonly previousUntil: Date | null
}

/** What a receiver gets to change over to the new secret. */
const OVERLAP_SECONDS = 24 * 60 * 60
/** Base-62 characters: 256 bits. */
const LENGTH = 43

/** The account's secret, made now if nobody has asked before. Throws when there is no account. */
export async function viewSecret(
  sql: Sql,
  box: SecretBox,
  accountId: string,
): Promise<WebhookSecret> {
  const found = await readSecret(sql, accountId)
  if (found?.current) return openSecrets(box, accountId, found)
  if (!found) throw new OperatorError(`there is no account ${accountId}`)
  await createSecret(sql, accountId, sealNew(box, accountId))
  return await viewSecret(sql, box, accountId)
}

/** A new secret; the one before signs beside it for 24 hours. */
export async function rotateSecret(
  sql: Sql,
  box: SecretBox,
  accountId: string,
): Promise<WebhookSecret> {
  await viewSecret(sql, box, accountId)
  await replaceSecret(sql, accountId, sealNew(box, accountId), OVERLAP_SECONDS)
  return await viewSecret(sql, box, accountId)
}

/** Throws SecretError when SECRET_KEY does not hold the key of one of them. */
export function openSecrets(box: SecretBox, accountId: string, row: SecretRow): WebhookSecret {
  const open = (sealed: Buffer) => box.open(sealed, placeOf(accountId))
  return {
    current: row.current ? open(row.current) : '',
    ...(row.previous ? { previous: open(row.previous) } : {}),
    previousUntil: row.previous_until,
  }
}

/** Seals all of them with the newest key, all or none. */
export function rekeyWebhookSecrets(
  sql: Sql,
  box: SecretBox,
): Promise<{ readonly changed: number; readonly kept: number }> {
  return sql.begin(async (transaction) => {
    const rows = await lockSealed(transaction)
    const isOld = (sealed: Buffer | null) => sealed !== null && sealedWith(sealed) !== box.keyId
    const old = rows.filter(({ current, previous }) => isOld(current) || isOld(previous))
    for (const row of old) {
      const place = placeOf(row.account_id)
      const again = (sealed: Buffer | null) => sealed && box.seal(box.open(sealed, place), place)
      const { account_id, current, previous } = row
      await resealSecrets(transaction, {
        account_id,
        current: again(current),
        previous: again(previous),
      })
    }
    return { changed: old.length, kept: rows.length - old.length }
  })
}

function sealNew(box: SecretBox, accountId: string): Buffer {
  return box.seal(`whsec_${randomText(LENGTH)}`, placeOf(accountId))
}

function placeOf(accountId: string): string {
  return `webhook:${accountId}`
}
