/** Seals every stored secret of the catalog again with the newest key after SECRET_KEY changes. */
import type { Sql } from 'postgres'
import { type SecretBox, sealedWith } from '../../base/lib/secrets/secrets.ts'
import { placeOf } from './channel-settings.ts'
import { listSealedSettings, lockCatalog, replaceSecrets } from './store.ts'

export interface Rekeyed {
  /** Secrets that were sealed again. */
  readonly changed: number
  /** Secrets that already used the newest key. */
  readonly kept: number
}

/**
 * Changes all secrets or none. Throws SecretError if the key of a secret is missing from the box.
 */
export function rekeyCatalog(sql: Sql, secrets: SecretBox): Promise<Rekeyed> {
  return sql.begin(async (transaction) => {
    await lockCatalog(transaction)
    const rows = await listSealedSettings(transaction)
    const older = rows.filter((row) => sealedWith(row.secrets) !== secrets.keyId)
    for (const row of older) {
      const place = placeOf({ channelId: row.channel_id, version: row.version })
      const sealed = secrets.seal(secrets.open(row.secrets, place), place)
      await replaceSecrets(transaction, { ...row, secrets: sealed })
    }
    return { changed: older.length, kept: rows.length - older.length }
  })
}
