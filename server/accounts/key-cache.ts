/**
 * What keys turned out to be, by their full hash, newest use last. Bounded, and separate for keys
 * that do not exist: a flood of guesses must not push real callers out.
 */
import type { Identified } from './accounts.ts'

/** A looked-up key. Times are of the monotonic clock. */
export interface CachedKey {
  readonly identified: Identified
  /** Null for a key that does not exist. */
  readonly accountId: string | null
  /** When the look-up began: what it says was true at this time or later. */
  readonly readAtMs: number
  /** From then on the key is expired, whatever was read. */
  readonly expiresAtMs: number
}

export interface KeyCache {
  get(hash: string): CachedKey | undefined
  set(hash: string, entry: CachedKey): void
  /** Forgets an account's keys, and every key that did not exist: it may exist now. */
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
    get(hash) {
      const entry = known.get(hash)
      if (!entry) return unknown.get(hash)
      known.delete(hash)
      known.set(hash, entry)
      return entry
    },
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

/** A Map keeps its keys in order: the first is the one used longest ago. */
function evictOldest(
  map: ReadonlyMap<string, CachedKey>,
  max: number,
  drop: (hash: string) => void,
): void {
  if (map.size <= max) return
  const [oldest] = map.keys()
  if (oldest !== undefined) drop(oldest)
}
