/**
 * The secret that signs an account's webhooks. It is created on first use and sealed at rest; after
 * a rotation the previous one signs as well for a day.
 */
import type { Sql, TransactionSql } from 'postgres'
import { randomText } from '../../base/lib/ids.ts'
import { refuseUnknownAccount } from '../../base/lib/operator-error.ts'
import { reseal, type SecretBox, sealedWith } from '../../base/lib/secrets/secrets.ts'
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

/** Time for a receiver to switch to the new secret. */
const OVERLAP_SECONDS = 24 * 60 * 60
/** Base-62 characters: 256 bits. */
const LENGTH = 43

/** Returns the account's secret, creating it on first use. Throws for an unknown account. */
export async function getOrCreateSecret(
  sql: Sql,
  box: SecretBox,
  accountId: string,
): Promise<WebhookSecret> {
  const row = await readSecret(sql, accountId)
  if (row?.current) return openSecrets(box, accountId, row)
  if (!row) refuseUnknownAccount(accountId)
  await createSecret(sql, accountId, sealNew(box, accountId))
  return await getOrCreateSecret(sql, box, accountId)
}

/** Creates a new secret; the previous one signs as well for 24 hours. */
export async function rotateSecret(
  sql: Sql,
  box: SecretBox,
  accountId: string,
): Promise<WebhookSecret> {
  await getOrCreateSecret(sql, box, accountId)
  await replaceSecret(sql, accountId, sealNew(box, accountId), OVERLAP_SECONDS)
  return await getOrCreateSecret(sql, box, accountId)
}

/** Decrypts the secrets of a row. Throws SecretError if SECRET_KEY lacks the key of one. */
export function openSecrets(box: SecretBox, accountId: string, row: SecretRow): WebhookSecret {
  const open = (sealed: Buffer) => box.open(sealed, placeOf(accountId))
  return {
    current: row.current ? open(row.current) : '',
    ...(row.previous ? { previous: open(row.previous) } : {}),
    previousUntil: row.previous_until,
  }
}

/**
 * Seals every secret with the newest key. One that no key opens is removed
 * (`dropsLost`), and a new one is created on its next use.
 */
export async function rekeyWebhookSecrets(
  transaction: TransactionSql,
  box: SecretBox,
  dropsLost = false,
) {
  const rows = await lockSealed(transaction)
  const isOld = (sealed: Buffer | null) => sealed !== null && sealedWith(sealed) !== box.keyId
  const old = rows.filter(({ current, previous }) => isOld(current) || isOld(previous))
  let dropped = 0
  for (const { account_id, current, previous } of old) {
    const again = (sealed: Buffer | null) =>
      sealed && reseal(box, sealed, placeOf(account_id), dropsLost)
    const resealed = { account_id, current: again(current), previous: again(previous) }
    if (!resealed.current) dropped += 1
    await resealSecrets(transaction, resealed)
  }
  return { changed: old.length - dropped, kept: rows.length - old.length, dropped }
}

function sealNew(box: SecretBox, accountId: string): Buffer {
  return box.seal(`whsec_${randomText(LENGTH)}`, placeOf(accountId))
}

function placeOf(accountId: string): string {
  return `webhook:${accountId}`
}
