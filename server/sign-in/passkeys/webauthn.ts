/**
 * Verifies passkeys as the standard requires (W3C Web Authentication, sections 7.1 and 7.2),
 * without attestation, since the authenticator's manufacturer does not matter. Browsers supply the
 * public key in a form that Node reads (section 5.2.1.1), so no CBOR has to be parsed: without
 * attestation nothing signs the key, so either form is exactly as trustworthy as the session that
 * sends it.
 */
import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto'

/** The expected values of a response. */
export interface Expected {
  readonly challenge: Buffer
  /** The relying party: the console's domain. */
  readonly domain: string
  readonly isOrigin: (origin: string) => boolean
}

/** `PublicKeyCredential.toJSON()` after a creation; bytes are base64url. */
export interface CreatedCredential {
  readonly id: string
  readonly response: {
    readonly clientDataJSON: string
    readonly authenticatorData: string
    readonly publicKey: string
    readonly transports?: readonly string[] | undefined
  }
}

/** `PublicKeyCredential.toJSON()` after a signature; bytes are base64url. */
export interface SignedCredential {
  readonly id: string
  readonly response: {
    readonly clientDataJSON: string
    readonly authenticatorData: string
    readonly signature: string
    readonly userHandle?: string | null | undefined
  }
}

export interface NewPasskey {
  readonly credentialId: Buffer
  /** SubjectPublicKeyInfo, DER. */
  readonly publicKey: Buffer
  readonly signCount: number
  readonly backedUp: boolean
  readonly transports: readonly string[]
}

/** The reason for refusing a response, for the log. */
export class PasskeyRefusal extends Error {}

/** COSE algorithms offered, best first: Ed25519, ES256, RS256. */
export const ALGORITHMS = [-8, -7, -257] as const

const PRESENT = 0x01
const VERIFIED = 0x04
const BACKED_UP = 0x10
const HAS_CREDENTIAL = 0x40
const HEAD_BYTES = 37
const MODEL_BYTES = 16
const RSA_BITS_MIN = 2048
const TRANSPORTS: ReadonlySet<string> = new Set([
  'ble',
  'hybrid',
  'internal',
  'nfc',
  'smart-card',
  'usb',
])

/** Throws PasskeyRefusal. */
export function readCreated(credential: CreatedCredential, expected: Expected): NewPasskey {
  const { response } = credential
  checkClientData(response.clientDataJSON, 'webauthn.create', expected)
  const bytes = decode(response.authenticatorData)
  const { flags, signCount } = readHead(bytes, expected.domain)
  const credentialId = readCredentialId(bytes, flags)
  if (!credentialId.equals(decode(credential.id))) throw new PasskeyRefusal('another credential id')
  const publicKey = decode(response.publicKey)
  checkKey(readKey(publicKey))
  return {
    credentialId,
    publicKey,
    signCount,
    backedUp: (flags & BACKED_UP) !== 0,
    transports: (response.transports ?? []).filter((one) => TRANSPORTS.has(one)),
  }
}

/** Throws PasskeyRefusal. The caller checks that the count has grown. */
export function readSignedCredential(
  { response }: SignedCredential,
  expected: Expected,
  publicKey: Buffer,
): { readonly signCount: number; readonly backedUp: boolean } {
  checkClientData(response.clientDataJSON, 'webauthn.get', expected)
  const bytes = decode(response.authenticatorData)
  const { flags, signCount } = readHead(bytes, expected.domain)
  const signed = Buffer.concat([bytes, hash('sha256', decode(response.clientDataJSON), 'buffer')])
  const key = readKey(publicKey)
  const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256'
  if (!verify(digest, signed, key, decode(response.signature))) {
    throw new PasskeyRefusal('the signature is wrong')
  }
  return { signCount, backedUp: (flags & BACKED_UP) !== 0 }
}

/** Checks the challenge and the page's origin in the browser's client data. */
function checkClientData(encoded: string, type: string, expected: Expected): void {
  const data = parse(decode(encoded))
  if (data.type !== type) throw new PasskeyRefusal('another ceremony')
  if (data.challenge !== expected.challenge.toString('base64url')) {
    throw new PasskeyRefusal('another challenge')
  }
  if (typeof data.origin !== 'string' || !expected.isOrigin(data.origin)) {
    throw new PasskeyRefusal('another origin')
  }
  if (data.crossOrigin === true) throw new PasskeyRefusal('inside a page of another origin')
}

function parse(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    if (typeof value === 'object' && value !== null) return { ...value }
  } catch {
    // Falls through: neither is what a browser writes.
  }
  throw new PasskeyRefusal('the client data is not an object')
}

/** Requires that the person was present and verified by the authenticator. */
function readHead(bytes: Buffer, domain: string) {
  if (bytes.length < HEAD_BYTES) throw new PasskeyRefusal('the authenticator data is too short')
  if (!bytes.subarray(0, 32).equals(hash('sha256', domain, 'buffer'))) {
    throw new PasskeyRefusal('another domain')
  }
  const flags = bytes.readUInt8(32)
  const needed = PRESENT | VERIFIED
  if ((flags & needed) !== needed) throw new PasskeyRefusal('nobody was verified')
  return { flags, signCount: bytes.readUInt32BE(33) }
}

function readCredentialId(bytes: Buffer, flags: number): Buffer {
  const lengthAt = HEAD_BYTES + MODEL_BYTES
  if ((flags & HAS_CREDENTIAL) === 0 || bytes.length < lengthAt + 2) {
    throw new PasskeyRefusal('there is no credential in it')
  }
  const length = bytes.readUInt16BE(lengthAt)
  const id = bytes.subarray(lengthAt + 2, lengthAt + 2 + length)
  if (length === 0 || length > 1023 || id.length !== length) {
    throw new PasskeyRefusal('the credential id does not fit')
  }
  return id
}

function readKey(der: Buffer): KeyObject {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' })
  } catch (cause) {
    throw new PasskeyRefusal('the public key cannot be read', { cause })
  }
}

function checkKey(key: KeyObject): void {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key
  const isFit =
    type === 'ed25519' ||
    (type === 'ec' && details?.namedCurve === 'prime256v1') ||
    (type === 'rsa' && (details?.modulusLength ?? 0) >= RSA_BITS_MIN)
  if (!isFit) throw new PasskeyRefusal(`a key of the kind ${type} was not offered`)
}

function decode(text: string): Buffer {
  return Buffer.from(text, 'base64url')
}
