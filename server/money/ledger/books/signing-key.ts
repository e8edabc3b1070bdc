/** The key pair that signs checkpoints: created when first needed, encrypted at rest. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { Sql } from 'postgres'
import { type SecretBox, sealedWith } from '../../../base/lib/secrets/secrets.ts'
import { encodeKey, keyIdOf } from './statement.ts'
import {
  insertKeyOnce,
  lockKeys,
  replacePrivateKey,
  type SigningKeyRow,
  selectKey,
} from './statement-store.ts'

export interface SigningKey {
  readonly id: string
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

/** Throws SecretError if SECRET_KEY lacks the key that sealed the private key. */
export async function openSigningKey(sql: Sql, box: SecretBox): Promise<SigningKey> {
  return open(await ensureKey(sql, box), box)
}

/** Returns the public key, which may be published. */
export async function showPublicKey(sql: Sql, box: SecretBox): Promise<KeyObject> {
  return readPublic(await ensureKey(sql, box))
}

/** Seals the private keys again with the newest key after SECRET_KEY changes. */
export function rekeySigningKeys(sql: Sql, box: SecretBox) {
  return sql.begin(async (transaction) => {
    const rows = await lockKeys(transaction)
    const older = rows.filter((row) => sealedWith(row.private_key) !== box.keyId)
    for (const row of older) {
      const sealed = box.seal(box.open(row.private_key, placeOf(row.id)), placeOf(row.id))
      await replacePrivateKey(transaction, row.id, sealed)
    }
    return { changed: older.length, kept: rows.length - older.length }
  })
}

async function ensureKey(sql: Sql, box: SecretBox): Promise<SigningKeyRow> {
  return (await selectKey(sql)) ?? (await insertKeyOnce(sql, createKey(box)))
}

function createKey(box: SecretBox): SigningKeyRow {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const id = keyIdOf(publicKey)
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { id, public_key: encodeKey(publicKey), private_key: box.seal(pem, placeOf(id)) }
}

function open(row: SigningKeyRow, box: SecretBox): SigningKey {
  const privateKey = createPrivateKey(box.open(row.private_key, placeOf(row.id)))
  return { id: row.id, publicKey: readPublic(row), privateKey }
}

function readPublic(row: SigningKeyRow): KeyObject {
  return createPublicKey({ key: row.public_key, type: 'spki', format: 'der' })
}

function placeOf(id: string): string {
  return `ledger signing key:${id}`
}
