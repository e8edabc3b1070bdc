/**
 * Who calls: from an API key to its caller, out of a cache. A notification forgets an account at
 * once; and because notifications can be lost, nothing older than four seconds is believed
 * without a new look. So a revoked key is refused everywhere within five seconds, always.
 */
import type { Sql } from 'postgres'
import { GatewayError } from '../errors.ts'
import { hashApiKey } from '../lib/api-key.ts'
import { createBatcher } from '../lib/batcher.ts'
import type { Log } from '../lib/log.ts'
import type { Identified } from './accounts.ts'
import { type CachedKey, createKeyCache } from './key-cache.ts'
import { findKeys, type KeyRow } from './store.ts'

export interface AccountsOptions {
  readonly sql: Sql
  readonly log: Log
  /** A monotonic clock in milliseconds. */
  readonly nowMs?: () => number
}

export interface Accounts {
  /**
   * The caller behind a key, or why it is refused. Throws GatewayError `unavailable` when the
   * database does not answer and what is known is older than five seconds.
   */
  identify(key: string): Promise<Identified>
  stop(): Promise<void>
}

/** From this age on a used entry is read again, while callers are still served from it. */
const REFRESH_AFTER_MS = 2_000
/** From this age on callers wait for the new look. */
const TRUSTED_MS = 4_000
/** While the database does not answer, an entry serves until it is this old and no longer. */
const SERVED_MS = 5_000
/** A caller waits at most this long for a look-up. */
const PATIENCE_MS = 1_500
const LOOKUPS_WAITING_MAX = 20_000
const LOOKUP_BATCH = 500
const WARN_EVERY_MS = 5_000
const NOTIFICATIONS = 'tributary_account'

export function createAccounts(options: AccountsOptions): Accounts {
  const { sql, log } = options
  const nowMs = options.nowMs ?? (() => performance.now())
  const cache = createKeyCache()
  const underWay = new Map<string, Promise<CachedKey>>()
  /** Counts notifications: a look-up that one overtook is used but not kept. */
  let changes = 0

  const lookups = createBatcher<Buffer, CachedKey>({
    run: (hashes) => withPatience(readKeys(sql, hashes, nowMs())),
    batchLimit: LOOKUP_BATCH,
    queueLimit: LOOKUPS_WAITING_MAX,
  })

  function forget(accountId: string): void {
    changes += 1
    cache.forgetAccount(accountId)
  }

  function forgetAll(): void {
    changes += 1
    cache.clear()
  }

  /** One look-up per key at a time, however many callers wait for it. */
  function lookUp(hash: Buffer, name: string): Promise<CachedKey> {
    const running = underWay.get(name)
    if (running) return running
    const before = changes
    const started = lookups
      .add(hash)
      .then((entry) => {
        if (changes === before) cache.set(name, entry)
        return entry
      })
      .finally(() => underWay.delete(name))
    underWay.set(name, started)
    return started
  }

  let warnedAtMs = Number.NEGATIVE_INFINITY
  function warn(error: unknown): void {
    if (nowMs() - warnedAtMs < WARN_EVERY_MS) return
    warnedAtMs = nowMs()
    log.warn({ error }, 'keys cannot be read: the database does not answer')
  }

  function refresh(hash: Buffer, name: string): void {
    lookUp(hash, name).catch(warn)
  }

  async function lookUpOrStale(hash: Buffer, name: string): Promise<CachedKey> {
    try {
      return await withPatience(lookUp(hash, name))
    } catch (cause) {
      warn(cause)
      const stale = cache.get(name)
      if (stale && nowMs() - stale.readAtMs <= SERVED_MS) return stale
      throw new GatewayError('unavailable', { retryAfterSeconds: 2, cause })
    }
  }

  const listening = sql
    .listen(NOTIFICATIONS, forget, forgetAll)
    .catch((error) => void log.warn({ error }, 'no notifications of account changes: polling only'))

  return {
    async identify(key) {
      const hash = hashApiKey(key)
      const name = hash.toString('base64')
      const cached = cache.get(name)
      const ageMs = cached ? nowMs() - cached.readAtMs : Number.POSITIVE_INFINITY
      if (!cached || ageMs > TRUSTED_MS) {
        return judge(await lookUpOrStale(hash, name), nowMs())
      }
      if (ageMs > REFRESH_AFTER_MS) refresh(hash, name)
      return judge(cached, nowMs())
    },
    async stop() {
      await (await listening)?.unlisten().catch(() => undefined)
      await lookups.flushed()
    },
  }
}

function judge(entry: CachedKey, now: number): Identified {
  if ('caller' in entry.identified && now >= entry.expiresAtMs) return { refused: 'expired' }
  return entry.identified
}

async function readKeys(sql: Sql, hashes: readonly Buffer[], readAtMs: number) {
  const rows = await findKeys(sql, hashes)
  const byHash = new Map(rows.map((row) => [row.hash.toString('base64'), row]))
  return hashes.map((hash) => cachedKey(byHash.get(hash.toString('base64')), readAtMs))
}

const NEVER = Number.POSITIVE_INFINITY

function cachedKey(row: KeyRow | undefined, readAtMs: number): CachedKey {
  if (!row) {
    return { identified: { refused: 'unknown' }, accountId: null, readAtMs, expiresAtMs: NEVER }
  }
  const expiresAtMs = row.expires_in_ms === null ? NEVER : readAtMs + row.expires_in_ms
  return { identified: identified(row), accountId: row.account_id, readAtMs, expiresAtMs }
}

function identified(row: KeyRow): Identified {
  if (row.disabled) return { refused: 'disabled' }
  if (row.expires_in_ms !== null && row.expires_in_ms <= 0) return { refused: 'expired' }
  if (row.status !== 'active') return { refused: 'suspended' }
  return {
    caller: {
      accountId: row.account_id,
      accountLimits: row.account_limits,
      currency: row.currency,
      keyId: row.key_id,
      keyLimits: row.key_limits,
      models: row.models,
      spendLimitNanos: row.spend_limit,
    },
  }
}

/** Rejects when the work takes too long; the work itself goes on and its outcome is ignored. */
function withPatience<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`the database did not answer within ${PATIENCE_MS} ms`))
    }, PATIENCE_MS)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
