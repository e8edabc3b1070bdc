/**
 * Identifies callers by API key or token, from a cache. Notifications evict an account's keys at
 * once; since they can be lost, entries older than four seconds are read again before use. A
 * revoked key is therefore refused everywhere within five seconds.
 */
import type { Sql } from 'postgres'
import { GatewayError } from '../../base/lib/errors.ts'
import type { Log } from '../../base/lib/log.ts'
import type { PresentedKey } from '../../base/lib/secrets/api-key.ts'
import type { Identified } from './accounts.ts'
import { type CachedKey, createKeyCache } from './key-cache.ts'
import { createLookUps } from './look-ups.ts'
import type { CheckedToken } from './tokens/check-token.ts'
import { createTokens, type TokensOptions } from './tokens/tokens.ts'

export interface AccountsOptions {
  readonly sql: Sql
  readonly log: Log
  /** A monotonic clock in milliseconds. */
  readonly nowMs?: () => number
  /** Checks tokens; without it, only keys are accepted. */
  readonly tokens?: Pick<TokensOptions, 'issuers' | 'dateMs' | 'fetchJson'>
}

export interface Accounts {
  /**
   * Returns the caller of a key, or the reason for its refusal. Rejects with GatewayError for a
   * token that is refused, and with `unavailable` if the database does not respond and the cached
   * entry is older than five seconds.
   * A cached caller is returned at once, without a promise.
   */
  identify(key: PresentedKey): Identified | Promise<Identified>
  /** Checks a directory's token for an operator who tries it out. Throws 401, 403 or 503. */
  checkToken(token: string): Promise<CheckedToken>
  stop(): Promise<void>
}

/** From this age an entry is refreshed in the background while it is still served. */
const REFRESH_AFTER_MS = 2_000
/** From this age callers wait for the refresh. */
const TRUSTED_MS = 4_000
/** Entries are served up to this age while the database does not respond. */
const SERVED_MS = 5_000
const WARN_EVERY_MS = 5_000
const NOTIFICATIONS = 'tributary_account'
const NO_TOKENS = { issuers: () => [], fetchJson: () => Promise.reject(new Error('no issuers')) }

export function createAccounts(options: AccountsOptions): Accounts {
  const { sql, log } = options
  const nowMs = options.nowMs ?? (() => performance.now())
  const cache = createKeyCache()
  const lookUps = createLookUps(sql, nowMs)
  const tokens = createTokens({ ...NO_TOKENS, ...options.tokens, sql, log, lookUps, nowMs })
  const warn = createWarner(log, nowMs)
  /** Counts notifications: a look-up that began before the latest one is used but not cached. */
  let changes = 0

  async function read({ hash, name, token }: PresentedKey): Promise<CachedKey> {
    const before = changes
    const entry = await (token === undefined ? lookUps.find(hash, name) : tokens.find(token, name))
    if (changes === before) cache.set(name, entry)
    return entry
  }

  async function readOrStale(key: PresentedKey): Promise<CachedKey> {
    try {
      return await read(key)
    } catch (cause) {
      if (cause instanceof GatewayError) throw cause
      warn(cause)
      const stale = cache.get(key.name)
      if (stale && nowMs() - stale.readAtMs <= SERVED_MS) return stale
      throw new GatewayError('unavailable', { retryAfterSeconds: 2, cause })
    }
  }

  function changed(): void {
    changes += 1
    lookUps.restart()
  }
  const forget = (accountId: string) => {
    changed()
    cache.forgetAccount(accountId)
  }
  const forgetAll = () => {
    changed()
    cache.clear()
  }
  const listening = sql
    .listen(NOTIFICATIONS, forget, forgetAll)
    .catch(
      (error) => void log.warn({ error }, 'account notifications are unavailable, polling only'),
    )

  async function lookUp(key: PresentedKey): Promise<Identified> {
    return judge(await readOrStale(key), nowMs())
  }

  /** A refused token is also refused for the next caller: nothing is wrong with the database. */
  const readQuietly = (key: PresentedKey) =>
    void read(key).catch((error) => error instanceof GatewayError || warn(error))

  return {
    identify(key) {
      const cached = cache.get(key.name)
      const now = nowMs()
      if (!cached || now - cached.readAtMs > TRUSTED_MS) return lookUp(key)
      if (now - cached.readAtMs > REFRESH_AFTER_MS) readQuietly(key)
      return judge(cached, now)
    },
    checkToken: tokens.check,
    async stop() {
      await (await listening)?.unlisten().catch(() => undefined)
      await lookUps.flushed()
    },
  }
}

function judge(entry: CachedKey, now: number): Identified {
  if ('caller' in entry.identified && now >= entry.expiresAtMs) return { refused: 'expired' }
  return entry.identified
}

/** Limits the log rate, since thousands of callers hit the same problem at once. */
function createWarner(log: Log, nowMs: () => number): (error: unknown) => void {
  let warnedAtMs = Number.NEGATIVE_INFINITY
  return (error) => {
    if (nowMs() - warnedAtMs < WARN_EVERY_MS) return
    warnedAtMs = nowMs()
    log.warn({ error }, 'API keys cannot be read: the database does not respond')
  }
}
