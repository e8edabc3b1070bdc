/**
 * Ensures that one gateway at a time owns an embedded database, by a lock that lives as long as one
 * connection. A killed gateway releases it at once; if the database restarts, the lock is lost and
 * taken again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type DatabasePlace, openClient } from '../connection/open-client.ts'
import { claimOwnership } from '../store.ts'

/** A stopping gateway or a connection that has just died may hold the lock a little longer. */
const CLAIM_MS = 4_000
const POLL_INTERVAL_MS = 100

export interface Ownership {
  /**
   * Stops the server before the lock is released: a gateway that took the lock in between would
   * lose its server.
   */
  readonly end: (stopServer: () => Promise<void>) => Promise<void>
}

interface Claim {
  /** Resolves when the connection, and with it the lock, is lost. */
  readonly lost: Promise<void>
  readonly release: () => Promise<void>
}

/**
 * Resolves to undefined if another process owns the database. `onStolen` is called if the lock was
 * lost with its connection and another gateway took it.
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
    async end(stopServer) {
      stopping.abort()
      await stopServer()
      await claim?.release()
      await keeping
    },
  }
}

/**
 * Retries while the database is unavailable; returns undefined once another process has the lock.
 */
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

/** Rejects if the database is unavailable. */
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
