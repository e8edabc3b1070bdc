/** Checks stored checkpoints: nothing in such a row is trusted without its signature. */
import { createPublicKey } from 'node:crypto'
import { isSignedBy, keyIdOf, readSignedStatement } from './statement.ts'
import type { StoredCheckpointRow } from './statement-store.ts'

export interface CheckpointDifference {
  readonly found: string
  readonly expected: string
}

/**
 * Returns the first difference between the row and what the gateway signed, or undefined. Anyone
 * with all rights on the database can still remove rows or sign with another key: only a checkpoint
 * and a public key that are stored elsewhere prove more.
 */
export function compareCheckpoint(row: StoredCheckpointRow): CheckpointDifference | undefined {
  const { block, created_at, key_id, statement: text, signature, public_key: spki, hash } = row
  if (spki === null) return { found: `the unknown key ${key_id}`, expected: 'a signing key' }
  const parsed = parse(text, signature, spki)
  if (!parsed) return { found: 'a statement that cannot be read', expected: 'a signed statement' }
  const { signed, key } = parsed
  const { statement } = signed
  if (!isSignedBy(signed, key)) {
    return { found: 'another signature', expected: `that of the key ${key_id} on its statement` }
  }
  const fields = [
    { name: 'key', found: key_id, expected: statement.key_id },
    { name: 'key', found: keyIdOf(key), expected: statement.key_id },
    { name: 'block', found: block.toString(), expected: statement.block.toString() },
    { name: 'time', found: created_at.toISOString(), expected: statement.created_at },
    { name: 'hash', found: hash?.toString('hex') ?? 'no such block', expected: statement.hash },
  ]
  const different = fields.find(({ found, expected }) => found !== expected)
  if (!different) return undefined
  const { name, found, expected } = different
  return { found: `${name} ${found}`, expected: `${name} ${expected}` }
}

function parse(text: string, signature: Buffer, spki: Buffer) {
  try {
    const file = {
      statement: JSON.parse(text),
      signature: signature.toString('base64'),
      public_key: spki.toString('base64'),
    }
    const signed = readSignedStatement(JSON.stringify(file))
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    return { signed, key }
  } catch {
    return undefined
  }
}
