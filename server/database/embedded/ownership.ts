/**
 * One gateway at a time owns an embedded database: a lock that lives as long as one connection. A
 * killed gateway frees it at once; a database that restarts takes it away, so it is taken again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type DatabasePlace, openClient } from '../connection/open-client.ts'
import { claimOwnership } from '../store.ts'

/** A gateway that is stopping, or a connection that died just now, may hold it a little longer. */
const CLAIM_MS = 4_000
const POLL_INTERVAL_MS = 100

export interface Ownership {
  readonly release: () => Promise<void>
}

interface Claim {
  /** Resolves when the connection, and with it the lock, is gone. */
  readonly lost: Promise<void>
  readonly release: () => Promise<void>
}

/**
 * Resolves undefined while somebody else owns the database. `onStolen` is called when the lock was
 * lost with its connection and another gateway was quicker to take it.
 */
export async function takeOwnership(
  place: DatabasePlace,
  onStolen: () => void,
): Promise<Ownership | undefined> {
  let claim = await claimWithPatience(place)
  if (!claim) return undefined
  const stopping = new AbortController()
  const keeping = (async () => {
    while (claim && !stopping.signal.aborted) {
      await claim.lost
      if (stopping.signal.aborted) return
      claim = await reclaim(place, stopping.signal)
    }
    if (!stopping.signal.aborted) onStolen()
  })()
  return {
    async release() {
      stopping.abort()
      await claim?.release()
      await keeping
    },
  }
}

/** As often as it takes while the database is away; undefined once somebody else has the lock. */
async function reclaim(place: DatabasePlace, signal: AbortSignal): Promise<Claim | undefined> {
  while (!signal.aborted) {
    try {
      return await claimWithPatience(place)
    } catch {
      await sleep(POLL_INTERVAL_MS)
    }
  }
  return undefined
}

/** Rejects when the database is away. */
async function claimWithPatience(place: DatabasePlace): Promise<Claim | undefined> {
  const lost = Promise.withResolvers<void>()
  const options = { connections: 1, name: 'tributary owner' }
  const sql = openClient(place, options, { onclose: () => lost.resolve() })
  const release = async () => {
    lost.resolve()
    await sql.end({ timeout: 1 })
  }
  const deadline = performance.now() + CLAIM_MS
  try {
    while (!(await claimOwnership(sql))) {
      if (performance.now() > deadline) {
        await release()
        return undefined
      }
      await sleep(POLL_INTERVAL_MS)
    }
    return { lost: lost.promise, release }
  } catch (error) {
    await release()
    throw error
  }
}
