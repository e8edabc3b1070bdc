/**
 * A bounded cache of looked-up keys, by full hash. The entry that was set longest ago is evicted
 * first: keys in use are read again every few seconds, so that is the least recently used one. Keys
 * that do not exist have their own cache, so that a flood of guesses cannot evict real callers.
 */
import type { Identified } from './accounts.ts'

/** A looked-up key. Times are of the monotonic clock, in milliseconds. */
export interface CachedKey {
  readonly identified: Identified
  /** Null for a key that does not exist. */
  readonly accountId: string | null
  /** The start of the look-up: the entry was accurate at this time or later. */
  readonly readAtMs: number
  /** The key counts as expired from this time on, regardless of the cached result. */
  readonly expiresAtMs: number
}

export interface KeyCache {
  get(hash: string): CachedKey | undefined
  set(hash: string, entry: CachedKey): void
  /** Evicts an account's keys, and all keys that did not exist, since they may exist now. */
  forgetAccount(accountId: string): void
  clear(): void
}

const KNOWN_MAX = 100_000
const UNKNOWN_MAX = 10_000

export function createKeyCache(): KeyCache {
  const known = new Map<string, CachedKey>()
  const unknown = new Map<string, CachedKey>()
  const byAccount = new Map<string, Set<string>>()

  function drop(hash: string): void {
    const accountId = known.get(hash)?.accountId
    known.delete(hash)
    if (typeof accountId !== 'string') return
    const hashes = byAccount.get(accountId)
    hashes?.delete(hash)
    if (hashes?.size === 0) byAccount.delete(accountId)
  }

  return {
    get: (hash) => known.get(hash) ?? unknown.get(hash),
    set(hash, entry) {
      drop(hash)
      unknown.delete(hash)
      if (entry.accountId === null) {
        unknown.set(hash, entry)
        evictOldest(unknown, UNKNOWN_MAX, (oldest) => unknown.delete(oldest))
        return
      }
      known.set(hash, entry)
      const hashes = byAccount.get(entry.accountId)
      if (hashes) hashes.add(hash)
      else byAccount.set(entry.accountId, new Set([hash]))
      evictOldest(known, KNOWN_MAX, drop)
    },
    forgetAccount(accountId) {
      for (const hash of byAccount.get(accountId) ?? []) known.delete(hash)
      byAccount.delete(accountId)
      unknown.clear()
    },
    clear() {
      known.clear()
      unknown.clear()
      byAccount.clear()
    },
  }
}

/**
 * A Map keeps insertion order, and the entry is deleted before it is set again, so the first key
 * was set longest ago.
 */
function evictOldest(
  map: ReadonlyMap<string, CachedKey>,
  max: number,
  drop: (hash: string) => void,
): void {
  if (map.size <= max) return
  const [oldest] = map.keys()
  if (oldest !== undefined) drop(oldest)
}
