/** Object ids carry their type, so that a wrong id is seen at once in a log or a query. */
import { createHash, randomBytes } from 'node:crypto'

export type IdPrefix =
  | 'acct'
  | 'key'
  | 'req'
  | 'hold'
  | 'task'
  | 'att'
  | 'file'
  | 'pub'
  | 'asset'
  | 'whd'
  | 'cred'
  | 'code'
  | 'own'
  | 'user'
  | 'ses'
  | 'tok'
  | 'pky'
  | 'link'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const LENGTH = 22
/** Random bytes are drawn in one go for many ids: one call a request would cost more. */
const POOL_BYTES = 8192
/** The largest multiple of 62 in a byte: larger values would favour the first characters. */
const UNBIASED = 248

let pool = Buffer.alloc(0)
let used = 0

function nextByte(): number {
  if (used >= pool.length) {
    pool = randomBytes(POOL_BYTES)
    used = 0
  }
  return pool[used++] ?? 0
}

/** Text of base-62 characters with `length` × 5.95 bits of randomness. */
export function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    const byte = nextByte()
    if (byte < UNBIASED) text += ALPHABET[byte % ALPHABET.length]
  }
  return text
}

/**
 * The id of the hold that a request takes: made from the request's own, so that either finds the
 * other without an index between them.
 */
export function holdIdOf(requestId: string): string {
  return `hold_${requestId.slice(requestId.indexOf('_') + 1)}`
}

/** A fresh id such as `task_5Yx…` with 130 bits of randomness. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${randomText(LENGTH)}`
}

/** Enough digits of base 36 for milliseconds until the year 5188. */
const TIME_LENGTH = 9
let lastMs = 0
let lastTime = ''

/**
 * A request's id, such as `req_0mi8x2k1q7Qw…`: it begins with the time and ends with 77 bits of
 * randomness. What is stored under it, and under its hold's, is written where the last of them
 * was: random ids would touch another page of every index at every call. Digits and small letters
 * sort alike in every collation.
 */
export function newRequestId(): string {
  const now = Date.now()
  if (now !== lastMs) {
    lastMs = now
    lastTime = now.toString(36).padStart(TIME_LENGTH, '0')
  }
  return `req_${lastTime}${randomText(LENGTH - TIME_LENGTH)}`
}

/** The same id in the form of a UUID (version 8), for vendors that want one of ours. */
export function uuidOf(id: string): string {
  const digest = createHash('sha256').update(id).digest('hex')
  const variant = (8 + (Number.parseInt(digest.charAt(16), 16) % 4)).toString(16)
  const third = `8${digest.slice(13, 16)}`
  const fourth = `${variant}${digest.slice(17, 20)}`
  return [digest.slice(0, 8), digest.slice(8, 12), third, fourth, digest.slice(20, 32)].join('-')
}
