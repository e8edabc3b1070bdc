/**
 * API keys: `tr-`, 43 random base-62 characters (256 bits), and 6 characters of checksum, so that
 * a typing error or junk is refused without asking anybody. A key is shown once and stored only
 * as its SHA-256.
 *
 * For secret scanners: \btr-[0-9A-Za-z]{49}\b
 */
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { randomText } from './ids.ts'

const PREFIX = 'tr-'
const RANDOM_LENGTH = 43
const CHECKSUM_LENGTH = 6
const KEY_LENGTH = PREFIX.length + RANDOM_LENGTH + CHECKSUM_LENGTH
const SHAPE = /^tr-[0-9A-Za-z]{49}$/
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A fresh key; 43 base-62 characters carry 256.03 bits. */
export function createApiKey(): string {
  const text = PREFIX + randomText(RANDOM_LENGTH)
  return text + checksum(text)
}

/** Whether the text can be a key of ours: no secret is involved, so no constant time is needed. */
export function isWellFormedApiKey(text: string): boolean {
  if (text.length !== KEY_LENGTH || !SHAPE.test(text)) return false
  const covered = PREFIX.length + RANDOM_LENGTH
  return text.slice(covered) === checksum(text.slice(0, covered))
}

/** What is stored and looked up: SHA-256 of the whole key. 256 random bits need no salt. */
export function hashApiKey(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** The first and last four random characters, for people to tell keys apart: `tr-Ab12…x9Yz`. */
export function displayApiKey(text: string): string {
  return `${text.slice(0, PREFIX.length + 4)}…${text.slice(-4)}`
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
