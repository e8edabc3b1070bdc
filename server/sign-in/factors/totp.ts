/** Time-based one-time passwords: RFC 6238 over RFC 4226, SHA-1, 6 digits, 30 seconds. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const STEP_SECONDS = 30
const DIGITS = 6
/** RFC 4226 section 4 recommends 160 bits. */
const SECRET_BYTES = 20
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** A fresh secret in base 32 (RFC 4648, no padding), as authenticator apps take it. */
export function createTotpSecret(): string {
  const bits = [...randomBytes(SECRET_BYTES)].map((byte) => byte.toString(2).padStart(8, '0'))
  const groups = bits.join('').match(/.{5}/g) ?? []
  return groups.map((group) => BASE32.charAt(Number.parseInt(group, 2))).join('')
}

/** The `otpauth:` address that is shown as a QR code. */
export function totpUri(secret: string, email: string): string {
  const label = encodeURIComponent(`Tributary:${email}`)
  return `otpauth://totp/${label}?secret=${secret}&issuer=Tributary`
}

/** The step that a time, in Unix milliseconds, belongs to. */
export function stepOf(timeMs: number): number {
  return Math.floor(timeMs / 1000 / STEP_SECONDS)
}

/** The code of one step, of 6 digits unless the RFC's own vectors ask for more. */
export function totpCode(secret: string, step: number, digits: number = DIGITS): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', decodeBase32(secret)).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 0xf
  const number = (mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits
  return String(number).padStart(digits, '0')
}

/**
 * The step that the code is right for: the current one, the one before or the one after, so that
 * clocks may differ by half a minute. Undefined when it is wrong.
 */
export function matchTotp(secret: string, code: string, timeMs: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const now = stepOf(timeMs)
  const given = Buffer.from(code)
  return [now, now - 1, now + 1].find((step) =>
    timingSafeEqual(Buffer.from(totpCode(secret, step)), given),
  )
}

function decodeBase32(text: string): Buffer {
  const bits = [...text].map((digit) => BASE32.indexOf(digit).toString(2).padStart(5, '0'))
  const bytes = bits.join('').match(/.{8}/g) ?? []
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)))
}
