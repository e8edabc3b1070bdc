/**
 * Rate limits of sign-in. An attempt counts against the name's and the address's rate before
 * anything is compared, and is given back if it was right. At most 20 guesses for one name are
 * compared within any 15 minutes: 10 at once, and 10 that are restored one by one. The process
 * remembers refusals, so that a flood does not query the database.
 */
import { createHash } from 'node:crypto'
import type { Sql } from 'postgres'
import { GatewayError } from '../../../base/lib/errors.ts'
import { deleteRestored, type Rate, returnAttempt, takeOne } from './throttle-store.ts'

const MINUTE_SECONDS = 60
const RATES = {
  /** Passwords for one e-mail address, existing or not. */
  name: { burst: 10, everySeconds: 1.5 * MINUTE_SECONDS },
  /** Passwords in a session of one's own: strangers' guesses do not count against it. */
  own: { burst: 10, everySeconds: 1.5 * MINUTE_SECONDS },
  /** Passwords from one network address. */
  address: { burst: 50, everySeconds: 10 },
  /** Second factors of one person. */
  factor: { burst: 10, everySeconds: 1.5 * MINUTE_SECONDS },
  /** Other attempts without a session from one network address: links, passkeys. */
  anonymous: { burst: 60, everySeconds: 5 },
  /** Sign-ins at a provider from one network address, which a whole company may share. */
  provider: { burst: 300, everySeconds: 1 },
  /** Invalid access tokens from one network address. */
  token: { burst: 60, everySeconds: 5 },
  /** Mails to confirm an address, asked for from one network address. */
  signUp: { burst: 20, everySeconds: MINUTE_SECONDS },
  /** The same to one mailbox, known or not. */
  signUpMailbox: { burst: 3, everySeconds: 20 * MINUTE_SECONDS },
  /** Invitations that one person has mailed. */
  invitation: { burst: 50, everySeconds: 2 * MINUTE_SECONDS },
  /** The same for one account that opened itself by signing up and has not been topped up. */
  signedUpInvitation: { burst: 5, everySeconds: 60 * MINUTE_SECONDS },
  /** Non-existent redeem codes by one person or for one account. */
  code: { burst: 10, everySeconds: 1.5 * MINUTE_SECONDS },
  /** The same from one network address, which many people may share. */
  codeAddress: { burst: 30, everySeconds: 0.5 * MINUTE_SECONDS },
} as const satisfies Record<string, Rate>

export type Subject = keyof typeof RATES

export interface Throttle {
  /** Throws 429 with the time to wait. */
  take(subject: Subject, name: string): Promise<void>
  giveBack(subject: Subject, name: string): Promise<void>
}

const REMEMBERED_MAX = 10_000
/** Expired rows are deleted once per this number of attempts. */
const TIDY_EVERY = 500

export function createThrottle(sql: Sql, nowMs: () => number): Throttle {
  /** The time until which a key is refused, newest last. */
  const refusedUntil = new Map<string, number>()
  /** The newest attempt of each key: concurrent attempts query the database one at a time. */
  const last = new Map<string, Promise<void>>()

  let attempts = 0

  function remember(key: string, seconds: number): void {
    refusedUntil.delete(key)
    refusedUntil.set(key, nowMs() + seconds * 1000)
    const [oldest] = refusedUntil.keys()
    if (refusedUntil.size > REMEMBERED_MAX && oldest) refusedUntil.delete(oldest)
  }

  async function takeNow(key: string, rate: Rate): Promise<void> {
    const waitMs = (refusedUntil.get(key) ?? 0) - nowMs()
    if (waitMs > 0) throw tooMany(key, waitMs / 1000)
    const seconds = await takeOne(sql, key, rate)
    attempts += 1
    if (attempts % TIDY_EVERY === 0) await deleteRestored(sql)
    if (seconds === undefined) return
    remember(key, seconds)
    throw tooMany(key, seconds)
  }

  return {
    async take(subject, name) {
      const key = keyOf(subject, name)
      const before = last.get(key)?.catch(() => undefined) ?? Promise.resolve()
      const own = before.then(() => takeNow(key, RATES[subject]))
      last.set(key, own)
      await own.finally(() => {
        if (last.get(key) === own) last.delete(key)
      })
    },
    giveBack: (subject, name) => returnAttempt(sql, keyOf(subject, name), RATES[subject]),
  }
}

/** Hashes names, since people sometimes type their password as their e-mail address. */
function keyOf(subject: Subject, name: string): string {
  return `${subject}:${createHash('sha256').update(name).digest('base64url')}`
}

const NO_SUCH_CODES = 'too many unknown codes: try again later'
const TOO_MANY_MAILS = 'too many mails: open the last one, or try again later'
const MESSAGES: Readonly<Record<string, string>> = {
  token: 'too many invalid access tokens: wait a little',
  invitation: 'too many invitations by mail: try again later',
  code: NO_SUCH_CODES,
  codeAddress: NO_SUCH_CODES,
  signUp: TOO_MANY_MAILS,
  signUpMailbox: TOO_MANY_MAILS,
}

function tooMany(key: string, seconds: number): GatewayError {
  const [subject = ''] = key.split(':')
  const message = MESSAGES[subject] ?? 'too many attempts: wait a little, or sign in with a passkey'
  return new GatewayError('rate_limited', { message, retryAfterSeconds: seconds })
}
