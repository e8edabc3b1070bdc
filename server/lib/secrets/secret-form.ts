/**
 * The form of secrets that are handed out: a prefix, 43 random base-62 characters (256 bits), and 6
 * characters of checksum, so that a typing error or junk is refused without asking anybody. They
 * are shown once and stored only as their SHA-256.
 */
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { randomText } from '../ids.ts'

export interface SecretForm {
  /** A fresh one; 43 base-62 characters carry 256.03 bits. */
  create(): string
  /** Whether the text can be one of ours: no secret is involved, so no constant time is needed. */
  isWellFormed(text: string): boolean
  /** The first and last four random characters, for people to tell them apart: `tr-Ab12…x9Yz`. */
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

/** What is stored and looked up: SHA-256 of the whole text. 256 random bits need no salt. */
export function hashSecret(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** CRC-32 in base 62, left-padded: 62^6 holds all 2^32 values. */
function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  while (digits.length < CHECKSUM_LENGTH) {
    digits = DIGITS.charAt(rest % DIGITS.length) + digits
    rest = Math.floor(rest / DIGITS.length)
  }
  return digits
}
