/**
 * Reads keys from the database: concurrent callers of one key share a look-up, and keys requested
 * at the same moment share a query.
 */
import type { Sql } from 'postgres'
import { createNetworks } from '../../base/lib/networks.ts'
import { createBatcher } from '../../base/lib/queues/batcher.ts'
import { withinTime } from '../../base/lib/queues/within-time.ts'
import type { Caller, Identified } from './accounts.ts'
import type { CachedKey } from './key-cache.ts'
import { findKeys, type IdentifiedKeyRow } from './store.ts'

export interface LookUps {
  /** `name` is the hash in base64. Rejects if the database does not respond in time. */
  find(hash: Buffer, name: string): Promise<CachedKey>
  /** Prevents later callers from sharing a look-up that began before a change. */
  restart(): void
  flushed(): Promise<void>
}

/**
 * The longest that a caller waits for a look-up. Over a network of 300 ms a connection that must be
 * opened first takes 1.2 s, and a statement that is new to it 0.6 s; a server that has just come
 * back takes as long again. The watch notices a silent server earlier.
 */
const TIME_LIMIT_MS = 5_000
const WAITING_MAX = 20_000
const BATCH_LIMIT = 500
const NEVER = Number.POSITIVE_INFINITY

export function createLookUps(sql: Sql, nowMs: () => number): LookUps {
  const underWay = new Map<string, Promise<CachedKey>>()
  const batcher = createBatcher<Buffer, CachedKey>({
    run: (hashes) => inTime(readKeys(sql, hashes, nowMs())),
    batchLimit: BATCH_LIMIT,
    queueLimit: WAITING_MAX,
  })
  return {
    find(hash, name) {
      const running = underWay.get(name)
      if (running) return running
      const started = inTime(batcher.add(hash)).finally(() => {
        if (underWay.get(name) === started) underWay.delete(name)
      })
      underWay.set(name, started)
      return started
    },
    restart: () => underWay.clear(),
    flushed: () => batcher.flushed(),
  }
}

async function readKeys(sql: Sql, hashes: readonly Buffer[], readAtMs: number) {
  const rows = await findKeys(sql, hashes)
  const byHash = new Map(rows.map((row) => [row.hash.toString('base64'), row]))
  return hashes.map((hash) => cachedKey(byHash.get(hash.toString('base64')), readAtMs))
}

function cachedKey(row: IdentifiedKeyRow | undefined, readAtMs: number): CachedKey {
  if (!row) {
    return { identified: { refused: 'unknown' }, accountId: null, readAtMs, expiresAtMs: NEVER }
  }
  const expiresAtMs = row.expires_in_ms === null ? NEVER : readAtMs + row.expires_in_ms
  return { identified: identified(row), accountId: row.account_id, readAtMs, expiresAtMs }
}

function identified(row: IdentifiedKeyRow): Identified {
  if (row.disabled) return { refused: 'disabled' }
  if (row.expires_in_ms !== null && row.expires_in_ms <= 0) return { refused: 'expired' }
  const lists = [row.allowed_ips, row.account_allowed_ips].filter((list) => list.length > 0)
  const allowed = lists.length === 0 ? {} : { allowed: lists.map(createNetworks) }
  if (!row.is_member) return { refused: 'left' }
  if (row.status !== 'active') return { refused: 'suspended', ...allowed }
  return {
    ...allowed,
    caller: {
      accountId: row.account_id,
      accountLimits: row.account_limits,
      currency: row.currency,
      priceList: row.price_list,
      keyId: row.key_id,
      keyLimits: row.key_limits,
      ...(row.counter_key_id === row.key_id ? {} : { limitKeyId: row.counter_key_id }),
      models: row.models,
      spendLimitNanos: row.spend_limit,
      ...taggingOf(row),
      ...(row.cost_in_answers ? { costInAnswers: true } : {}),
      ...(row.purpose === 'calls' ? {} : { isPlayground: true }),
    },
  }
}

function taggingOf(row: IdentifiedKeyRow): Pick<Caller, 'tagging'> {
  const { tags, allow_tags: allowTags, required_tags: requiredTags } = row
  if (tags.length === 0 && !allowTags && requiredTags.length === 0) return {}
  return { tagging: { tags, allowTags, requiredTags } }
}

/** Has the code of a connection that is silent: the same look-up may succeed later. */
class LookUpTimeout extends Error {
  readonly code = 'ETIMEDOUT'

  constructor() {
    super(`the database did not answer within ${TIME_LIMIT_MS} ms`)
  }
}

function inTime<T>(work: Promise<T>): Promise<T> {
  return withinTime(work, TIME_LIMIT_MS, () => new LookUpTimeout())
}
