/** A signed statement about the books: what it says, and whether it was signed. */
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { OperatorError } from '../../lib/operator-error.ts'
import { sha256 } from './canonical.ts'

export const STATEMENT_FORMAT = 1

export interface Anchor {
  readonly block: number
  readonly hash: string
}

export interface Statement {
  readonly format: typeof STATEMENT_FORMAT
  /** The version of Tributary that wrote it. */
  readonly version: string
  /** By the database's clock. */
  readonly created_at: string
  /** The head of the chain: everything up to it is covered. */
  readonly block: number
  readonly hash: string
  readonly last_entry: string
  readonly entries: string
  /** Decimals by currency and ledger account: what all entries together have moved. */
  readonly totals: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Earlier blocks, so that an older state is recognised and a difference can be narrowed down. */
  readonly anchors: readonly Anchor[]
  readonly key_id: string
}

export interface SignedStatement {
  readonly statement: Statement
  /** Ed25519 over the statement as JSON with sorted names and no blanks; base64. */
  readonly signature: string
  /** SubjectPublicKeyInfo; base64. */
  readonly public_key: string
}

/** Keeps these signatures apart from any other use of the key. */
const PURPOSE = 'tributary checkpoint 1\n'

export function signStatement(
  statement: Statement,
  keys: { readonly privateKey: KeyObject; readonly publicKey: KeyObject },
): SignedStatement {
  const signature = sign(null, toSigned(statement), keys.privateKey).toString('base64')
  return { statement, signature, public_key: encodeKey(keys.publicKey).toString('base64') }
}

/** Whether the holder of this key signed exactly this statement. */
export function isSignedBy({ statement, signature }: SignedStatement, key: KeyObject): boolean {
  return verify(null, toSigned(statement), key, Buffer.from(signature, 'base64'))
}

/** The first 16 hexadecimal digits of the SHA-256 of the key. */
export function keyIdOf(key: KeyObject): string {
  return sha256(encodeKey(key)).toString('hex').slice(0, 16)
}

export function encodeKey(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' })
}

/** Reads a file of ours. Throws OperatorError when it is not one. */
export function readSignedStatement(text: string): SignedStatement {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new OperatorError('the checkpoint is not JSON', { cause })
  }
  if (!isSigned(value)) throw new OperatorError('the file is not a checkpoint')
  const { format } = value.statement
  if (format === STATEMENT_FORMAT) return value
  throw new OperatorError(`the checkpoint has format ${format}, this version reads 1`)
}

/** PEM, as `checkpoint public-key` prints it. Throws OperatorError for anything else. */
export function readPublicKey(text: string): KeyObject {
  try {
    const key = createPublicKey(text)
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch (cause) {
    throw new OperatorError('the public key is not in PEM', { cause })
  }
  throw new OperatorError('the public key is not an Ed25519 key')
}

/** Throws OperatorError when the statement names no key that can be read. */
export function readOwnKey({ public_key }: SignedStatement): KeyObject {
  const pem = `-----BEGIN PUBLIC KEY-----\n${public_key}\n-----END PUBLIC KEY-----\n`
  return readPublicKey(pem)
}

function toSigned(statement: Statement): Buffer {
  return Buffer.from(PURPOSE + toCanonicalJson(statement))
}

/** JSON without blanks, the names of each object in the order of their code units. */
function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(',')}]`
  if (!isRecord(value)) return JSON.stringify(value)
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${toCanonicalJson(value[name])}`)
  return `{${members.join(',')}}`
}

function isSigned(value: unknown): value is SignedStatement {
  if (!isRecord(value) || !isRecord(value.statement)) return false
  const { statement } = value
  const texts = [value.signature, value.public_key, statement.hash, statement.created_at]
  return (
    [...texts, statement.last_entry, statement.entries, statement.key_id].every(isText) &&
    Number.isSafeInteger(statement.block) &&
    isRecord(statement.totals) &&
    Object.values(statement.totals).every((pots) => isRecord(pots)) &&
    Array.isArray(statement.anchors) &&
    statement.anchors.every(
      (one) => isRecord(one) && Number.isInteger(one.block) && isText(one.hash),
    )
  )
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
