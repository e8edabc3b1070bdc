/** Signed statements about the books: format, signature and parsing. */
import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { OperatorError } from '../../../base/lib/operator-error.ts'
import { sha256 } from './canonical.ts'

export const STATEMENT_FORMAT = 1

export interface Anchor {
  readonly block: number
  readonly hash: string
}

export interface Statement {
  readonly format: typeof STATEMENT_FORMAT
  /** The Tributary version that wrote it. */
  readonly version: string
  /** The database's time. */
  readonly created_at: string
  /** The head of the chain: all entries up to it are covered. */
  readonly block: number
  readonly hash: string
  readonly last_entry: string
  readonly entries: string
  /** Decimal sums of all entries, by currency and ledger account. */
  readonly totals: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Hashes of earlier blocks, to recognise an older state and to narrow down a difference. */
  readonly anchors: readonly Anchor[]
  readonly key_id: string
}

export interface SignedStatement {
  readonly statement: Statement
  /** Ed25519 signature over the statement as JSON with sorted names and no whitespace; base64. */
  readonly signature: string
  /** SubjectPublicKeyInfo; base64. */
  readonly public_key: string
}

/** Domain separation from any other use of the key. */
const PURPOSE = 'tributary checkpoint 1\n'

export function signStatement(
  statement: Statement,
  keys: { readonly privateKey: KeyObject; readonly publicKey: KeyObject },
): SignedStatement {
  const signature = sign(null, toSigned(statement), keys.privateKey).toString('base64')
  return { statement, signature, public_key: encodeKey(keys.publicKey).toString('base64') }
}

/** Returns true if the holder of this key signed exactly this statement. */
export function isSignedBy({ statement, signature }: SignedStatement, key: KeyObject): boolean {
  return verify(null, toSigned(statement), key, Buffer.from(signature, 'base64'))
}

/** Returns the first 16 hexadecimal digits of the SHA-256 of the key. */
export function keyIdOf(key: KeyObject): string {
  return sha256(encodeKey(key)).toString('hex').slice(0, 16)
}

export function encodeKey(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' })
}

/** Parses a checkpoint file. Throws OperatorError if it is not one. */
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

/** Parses PEM as printed by `checkpoint public-key`. Throws OperatorError for anything else. */
export function readPublicKey(text: string): KeyObject {
  try {
    const key = createPublicKey(text)
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch (cause) {
    throw new OperatorError('the public key is not in PEM', { cause })
  }
  throw new OperatorError('the public key is not an Ed25519 key')
}

/** Throws OperatorError if the statement contains no readable key. */
export function readOwnKey({ public_key }: SignedStatement): KeyObject {
  const pem = `-----BEGIN PUBLIC KEY-----\n${public_key}\n-----END PUBLIC KEY-----\n`
  return readPublicKey(pem)
}

function toSigned(statement: Statement): Buffer {
  return Buffer.from(PURPOSE + toCanonicalJson(statement))
}

/** Returns JSON without whitespace, with the names of each object sorted by code units. */
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
