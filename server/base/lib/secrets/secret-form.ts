/**
 * The form of issued secrets: a prefix, 43 random base-62 characters (256 bits), and a checksum of
 * 6 characters, so that typing errors are rejected without a query. They are shown once and stored
 * only as SHA-256.
 */
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { randomText } from '../ids.ts'

export interface SecretForm {
  /** Returns a new secret; 43 base-62 characters carry 256.03 bits. */
  create(): string
  /**
   * Returns true if the text has the form. No stored secret is compared, so constant time is not
   * needed.
   */
  isWellFormed(text: string): boolean
  /** Returns the prefix with the first and last four characters, for people: `tr-Ab12…x9Yz`. */
  display(text: string): string
}

const RANDOM_LENGTH = 43
const CHECKSUM_LENGTH = 6
const REST = /^[0-9A-Za-z]{49}$/
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export function createSecretForm(prefix: string): SecretForm {
  const covered = prefix.length + RANDOM_LENGTH
  const length = covered + CHECKSUM_LENGTH
  return {
    create() {
      const text = prefix + randomText(RANDOM_LENGTH)
      return text + checksum(text)
    },
    isWellFormed(text) {
      if (text.length !== length || !text.startsWith(prefix)) return false
      if (!REST.test(text.slice(prefix.length))) return false
      return text.slice(covered) === checksum(text.slice(0, covered))
    },
    display: (text) => `${text.slice(0, prefix.length + 4)}…${text.slice(-4)}`,
  }
}

/** Returns the SHA-256 of the whole text, for storage and look-up. 256 random bits need no salt. */
export function hashSecret(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** Returns the CRC-32 in base 62, left-padded: 62^6 covers all 2^32 values. */
function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  while (digits.length < CHECKSUM_LENGTH) {
    digits = DIGITS.charAt(rest % DIGITS.length) + digits
    rest = Math.floor(rest / DIGITS.length)
  }
  return digits
}
