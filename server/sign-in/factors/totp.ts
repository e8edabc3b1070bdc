/** Time-based one-time passwords: RFC 6238 over RFC 4226, SHA-1, 6 digits, 30 seconds. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const STEP_SECONDS = 30
const DIGITS = 6
/** RFC 4226 section 4 recommends 160 bits. */
const SECRET_BYTES = 20
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Returns a new secret in base 32 (RFC 4648, no padding), as authenticator apps expect it. */
export function createTotpSecret(): string {
  const bits = [...randomBytes(SECRET_BYTES)].map((byte) => byte.toString(2).padStart(8, '0'))
  const groups = bits.join('').match(/.{5}/g) ?? []
  return groups.map((group) => BASE32.charAt(Number.parseInt(group, 2))).join('')
}

/** Returns the `otpauth:` URL for the QR code. */
export function totpUri(secret: string, email: string): string {
  const label = encodeURIComponent(`Tributary:${email}`)
  return `otpauth://totp/${label}?secret=${secret}&issuer=Tributary`
}

/** Returns the step of a time in Unix milliseconds. */
export function stepOf(timeMs: number): number {
  return Math.floor(timeMs / 1000 / STEP_SECONDS)
}

/** Returns the code of one step: 6 digits, except in the RFC's test vectors. */
export function totpCode(secret: string, step: number, digits: number = DIGITS): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', decodeBase32(secret)).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 0xf
  const number = (mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits
  return String(number).padStart(digits, '0')
}

/**
 * Returns the step for which the code is valid: the current one, the previous or the next, which
 * allows clocks to differ by half a minute. Undefined for a wrong code.
 */
export function matchTotp(secret: string, code: string, timeMs: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const now = stepOf(timeMs)
  const submitted = Buffer.from(code)
  return [now, now - 1, now + 1].find((step) =>
    timingSafeEqual(Buffer.from(totpCode(secret, step)), submitted),
  )
}

/** Steps before and after now in which a code tells of a late reader or a wrong clock: an hour. */
const CLOCK_STEPS = 120

/** Returns whether the code is one that the app shows an hour before or after now. */
export function isOfAnotherTime(secret: string, code: string, timeMs: number): boolean {
  const first = stepOf(timeMs) - CLOCK_STEPS
  const steps = Array.from({ length: 2 * CLOCK_STEPS + 1 }, (_, index) => first + index)
  return steps.some((step) => totpCode(secret, step) === code)
}

function decodeBase32(text: string): Buffer {
  const bits = [...text].map((digit) => BASE32.indexOf(digit).toString(2).padStart(5, '0'))
  const bytes = bits.join('').match(/.{8}/g) ?? []
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)))
}
