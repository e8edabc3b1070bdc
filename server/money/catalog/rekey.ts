/** Seals every stored secret of the catalog again with the newest key after SECRET_KEY changes. */
import type { TransactionSql } from 'postgres'
import { reseal, type SecretBox, sealedWith } from '../../base/lib/secrets/secrets.ts'
import { placeOf } from './channel-settings.ts'
import { listSealedSettings, lockCatalog, replaceSecrets } from './store.ts'

export interface Rekeyed {
  /** Secrets that were sealed again. */
  readonly changed: number
  /** Secrets that already used the newest key. */
  readonly kept: number
  /** Secrets that no key opened, and that were removed. */
  readonly dropped: number
}

/**
 * If the key of a secret is missing from the box, throws SecretError,
 * or removes the secret (`dropsLost`); the channel cannot be used until it is applied again.
 */
export async function rekeyCatalog(
  transaction: TransactionSql,
  secrets: SecretBox,
  dropsLost = false,
): Promise<Rekeyed> {
  await lockCatalog(transaction)
  const rows = await listSealedSettings(transaction)
  const older = rows.filter((row) => sealedWith(row.secrets) !== secrets.keyId)
  let dropped = 0
  for (const row of older) {
    const place = placeOf({ channelId: row.channel_id, version: row.version })
    const sealed = reseal(secrets, row.secrets, place, dropsLost)
    if (!sealed) dropped += 1
    await replaceSecrets(transaction, { ...row, secrets: sealed })
  }
  return { changed: older.length - dropped, kept: rows.length - older.length, dropped }
}
