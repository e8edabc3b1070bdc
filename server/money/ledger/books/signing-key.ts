/** The key pair that signs checkpoints: created when first needed, encrypted at rest. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { Sql, TransactionSql } from 'postgres'
import { reseal, type SecretBox, sealedWith } from '../../../base/lib/secrets/secrets.ts'
import { encodeKey, keyIdOf } from './statement.ts'
import {
  insertKeyOnce,
  insertSigningKey,
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

/**
 * Seals the private keys again with the newest key after SECRET_KEY changes. If one is lost
 * (`dropsLost`), a new pair signs from then on; the old public half stays to verify what it signed.
 */
export async function rekeySigningKeys(
  transaction: TransactionSql,
  box: SecretBox,
  dropsLost = false,
) {
  const rows = await lockKeys(transaction)
  const older = rows.filter((row) => sealedWith(row.private_key) !== box.keyId)
  let dropped = 0
  for (const { id, private_key } of older) {
    const sealed = reseal(box, private_key, placeOf(id), dropsLost)
    if (!sealed) dropped += 1
    await replacePrivateKey(transaction, id, sealed ?? box.seal('', placeOf(id)))
  }
  if (dropped > 0) await insertSigningKey(transaction, createKey(box))
  return { changed: older.length - dropped, kept: rows.length - older.length, dropped }
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
