/** Object ids carry their type as a prefix, so that a wrong id is obvious in a log or a query. */
import { createHash, randomBytes } from 'node:crypto'

export type IdPrefix =
  | 'acct'
  | 'idp'
  | 'sup'
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
  | 'bud'
  | 'code'
  | 'own'
  | 'user'
  | 'ses'
  | 'tok'
  | 'pky'
  | 'link'
  | 'mail'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const LENGTH = 22
/** Random bytes are drawn for many ids at once: one call per request would cost more. */
const POOL_BYTES = 8192
/** The largest multiple of 62 up to 256: larger values would favour the first characters. */
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

const DIGITS = Buffer.from(ALPHABET)

/** Returns base-62 text with `length` × 5.95 bits of randomness. */
export function randomText(length: number): string {
  // Written to bytes first: adding to a text leaves a chain of as many pieces.
  const text = Buffer.allocUnsafe(length)
  for (let at = 0; at < length; ) {
    const byte = nextByte()
    if (byte < UNBIASED) text[at++] = DIGITS[byte % ALPHABET.length] ?? 0
  }
  return text.toString('latin1')
}

/**
 * Returns the id of a request's hold. It is derived from the request id, so that each can be found
 * from the other without an index.
 */
export function holdIdOf(requestId: string): string {
  return `hold_${requestId.slice(requestId.indexOf('_') + 1)}`
}

/** Returns a new id such as `task_5Yx…` with 130 bits of randomness. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${randomText(LENGTH)}`
}

/** Base-36 digits for milliseconds until the year 5188. */
const TIME_LENGTH = 9
const TIME = /^[a-z]+_([0-9a-z]{9})/

/** Returns the digits that ids of a time have after their prefix; other characters follow. */
export function timeDigits(ms: number): string {
  return ms.toString(36).padStart(TIME_LENGTH, '0')
}

/** Returns the time in a request or hold id, or undefined if it has none. */
export function timeOfId(id: string): Date | undefined {
  const [, digits] = TIME.exec(id) ?? []
  const time = new Date(digits === undefined ? Number.NaN : Number.parseInt(digits, 36))
  return Number.isNaN(time.getTime()) ? undefined : time
}

let lastMs = 0
let lastTime = ''

/**
 * Returns a request id such as `req_0mi8x2k1q7Qw…`: a timestamp followed by 77 bits of randomness.
 * Rows stored under request and hold ids are therefore appended to their indexes; random ids would
 * touch another page of every index at every call. Digits and lower-case letters sort alike in
 * every collation.
 */
export function newRequestId(): string {
  const now = Date.now()
  if (now !== lastMs) {
    lastMs = now
    lastTime = timeDigits(now)
  }
  return `req_${lastTime}${randomText(LENGTH - TIME_LENGTH)}`
}

/** Returns the id as a UUID (version 8), for vendors that require one. */
export function uuidOf(id: string): string {
  const digest = createHash('sha256').update(id).digest('hex')
  const variant = (8 + (Number.parseInt(digest.charAt(16), 16) % 4)).toString(16)
  const third = `8${digest.slice(13, 16)}`
  const fourth = `${variant}${digest.slice(17, 20)}`
  return [digest.slice(0, 8), digest.slice(8, 12), third, fourth, digest.slice(20, 32)].join('-')
}
