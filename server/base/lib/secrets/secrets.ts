/**
 * Secrets at rest: AES-256-GCM under keys derived from SECRET_KEY. A sealed secret names its key,
 * which allows rotation, and is bound to its row (`context`), so that it cannot be moved to another
 * one. Secrets that need not be stored are signed texts.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { OperatorError } from '../operator-error.ts'

export interface SecretBox {
  /** The id of the current key: 8 hexadecimal digits. */
  readonly keyId: string
  /** The ids of all keys, the current one among them. */
  readonly keyIds: ReadonlySet<string>
  /** Encrypts text for one context, for example `channel:main:3`. */
  seal(text: string, context: string): Buffer
  /** Throws SecretError if the key is missing, or the bytes were changed or moved. */
  open(sealed: Buffer, context: string): string
  /** Returns a 32-byte HMAC of this text; `context` separates uses. */
  sign(text: string, context: string): Buffer
  /** Returns true if any of the keys produced this signature. */
  isSigned(signature: Buffer, text: string, context: string): boolean
}

export class SecretError extends OperatorError {}

/** Shorter values are passwords rather than keys: 32 characters of base64 carry 192 bits. */
export const SECRET_KEY_LENGTH_MIN = 32

const FORMAT = 1
const KEY_ID_BYTES = 4
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEADER_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES

/** Returns a new SECRET_KEY: 256 random bits as text. */
export function createSecretKey(): string {
  return randomBytes(32).toString('base64url')
}

/**
 * Returns a box that seals with the first key and opens with any of them. Throws SecretError if
 * there is none or one is too short.
 */
export function createSecretBox(secretKeys: readonly string[]): SecretBox {
  const [current, ...older] = secretKeys.map(deriveKey)
  if (!current) throw new SecretError('no secret key is configured')
  const byId = new Map([current, ...older].map((derived) => [derived.id.toString('hex'), derived]))
  return {
    keyId: current.id.toString('hex'),
    keyIds: new Set(byId.keys()),
    seal(text, context) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', current.key, nonce)
      cipher.setAAD(Buffer.from(context))
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.of(FORMAT), current.id, nonce, cipher.getAuthTag(), sealed])
    },
    open(sealed, context) {
      const id = sealedWith(sealed)
      const derived = byId.get(id)
      if (!derived) throw new SecretError(`sealed with key ${id}, which SECRET_KEY does not hold`)
      const nonceStart = 1 + KEY_ID_BYTES
      const tagStart = nonceStart + NONCE_BYTES
      const nonce = sealed.subarray(nonceStart, tagStart)
      const decipher = createDecipheriv('aes-256-gcm', derived.key, nonce)
      decipher.setAAD(Buffer.from(context))
      decipher.setAuthTag(sealed.subarray(tagStart, HEADER_BYTES))
      try {
        const opened = decipher.update(sealed.subarray(HEADER_BYTES))
        return Buffer.concat([opened, decipher.final()]).toString('utf8')
      } catch (cause) {
        throw new SecretError(`the secret of ${context} was changed or moved`, { cause })
      }
    },
    sign: (text, context) => signWith(current, text, context),
    isSigned(signature, text, context) {
      const own = [...byId.values()].map((derived) => signWith(derived, text, context))
      return own.some((one) => one.length === signature.length && timingSafeEqual(one, signature))
    },
  }
}

function signWith({ signing }: DerivedKey, text: string, context: string): Buffer {
  return createHmac('sha256', signing).update(`${context}\n${text}`).digest()
}

/**
 * Seals a secret again with the newest key. If it is given up once no key opens it (`dropsLost`),
 * returns null for such a secret; otherwise throws SecretError.
 */
export function reseal(
  box: SecretBox,
  sealed: Buffer,
  context: string,
  dropsLost: boolean,
): Buffer | null {
  try {
    return box.seal(box.open(sealed, context), context)
  } catch (error) {
    if (dropsLost && error instanceof SecretError) return null
    throw error
  }
}

/** Returns the id of the key that sealed these bytes. Throws SecretError if they are not sealed. */
export function sealedWith(sealed: Buffer): string {
  if (sealed.length < HEADER_BYTES || sealed[0] !== FORMAT) {
    throw new SecretError('not a sealed secret')
  }
  return sealed.subarray(1, 1 + KEY_ID_BYTES).toString('hex')
}

/** Returns the id of a SECRET_KEY, as the secrets that it sealed name it. */
export function readSecretKeyId(secretKey: string): string {
  return deriveKey(secretKey).id.toString('hex')
}

/** Masks a secret for display: shows at most its last four characters, and none of a short one. */
export function maskSecret(secret: string): string {
  return secret.length >= 16 ? `••••${secret.slice(-4)}` : '••••'
}

interface DerivedKey {
  readonly id: Buffer
  readonly key: Buffer
  readonly signing: Buffer
}

function deriveKey(secretKey: string): DerivedKey {
  if (secretKey.length < SECRET_KEY_LENGTH_MIN) {
    throw new SecretError(`a secret key needs at least ${SECRET_KEY_LENGTH_MIN} characters`)
  }
  const derive = (purpose: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', secretKey, 'tributary', purpose, bytes))
  return {
    id: derive('key id', KEY_ID_BYTES),
    key: derive('seal secrets', 32),
    signing: derive('sign texts', 32),
  }
}
