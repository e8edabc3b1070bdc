/**
 * How often somebody may try. A guess costs one of the name's and one of the address's rate before
 * anything is compared; what proved right is given back. At most 20 guesses for one name reach the
 * comparison within any 15 minutes: 10 at once, and 10 that come back one by one. A refusal is
 * remembered in the process, so that a flood costs the database nothing.
 */
import { createHash } from 'node:crypto'
import type { Sql } from 'postgres'
import { GatewayError } from '../../lib/errors.ts'
import { forgetFull, type Rate, returnAttempt, takeOne } from './throttle-store.ts'

const MINUTE_SECONDS = 60
const RATES = {
  /** Passwords for one e-mail address, whether anybody has it or not. */
  name: { burst: 10, everySeconds: 1.5 * MINUTE_SECONDS },
  /** Passwords for one's own session: strangers' guesses do not use this up. */
  own: { burst: 10, everySeconds: 1.5 * MINUTE_SECONDS },
  /** Passwords from one network address. */
  address: { burst: 50, everySeconds: 10 },
  /** Second factors of one person. */
  factor: { burst: 10, everySeconds: 1.5 * MINUTE_SECONDS },
  /** Anything else without a session from one network address: links, passkeys. */
  anonymous: { burst: 60, everySeconds: 5 },
  /** Access tokens from one network address that are worth nothing. */
  token: { burst: 60, everySeconds: 5 },
  /** Redeem codes that do not exist, by one person or for one account. */
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
/** Rows that say nothing any more are removed after so many attempts. */
const TIDY_EVERY = 500

export function createThrottle(sql: Sql, nowMs: () => number): Throttle {
  /** Until when a key is refused, newest last. */
  const refusedUntil = new Map<string, number>()
  /** The newest attempt of each key: of thousands at once, one asks the database at a time. */
  const last = new Map<string, Promise<void>>()

  let taken = 0

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
    taken += 1
    if (taken % TIDY_EVERY === 0) await forgetFull(sql)
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

/** What people typed as their e-mail address may be their password: it is not kept. */
function keyOf(subject: Subject, name: string): string {
  return `${subject}:${createHash('sha256').update(name).digest('base64url')}`
}

const NO_SUCH_CODES = 'too many codes that do not exist: try again later'
const MESSAGES: Readonly<Record<string, string>> = {
  token: 'too many access tokens that are worth nothing: wait a little',
  code: NO_SUCH_CODES,
  codeAddress: NO_SUCH_CODES,
}

function tooMany(key: string, seconds: number): GatewayError {
  const [subject = ''] = key.split(':')
  const message = MESSAGES[subject] ?? 'too many attempts: wait a little, or sign in with a passkey'
  return new GatewayError('rate_limited', { message, retryAfterSeconds: seconds })
}
