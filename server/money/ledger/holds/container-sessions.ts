/**
 * Sessions of containers that vendors run: a vendor bills a session once, whichever calls use the
 * container. The first call that settles pays, later ones until its end do not.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import type { SettlementLog } from '../posting/settlements.ts'
import { type ContainerSession, insertSessions } from './container-session-store.ts'

const RETRY_MS_MIN = 100
const RETRY_MS_MAX = 3_000
/** Other texts are not used as ids: every call pays for their sessions. */
const ID = /^[!-~]{1,200}$/
/** Every call pays for the sessions of further containers. */
const CONTAINERS_MAX = 100

export interface SessionClaim {
  readonly requestId: string
  /** Ids are only known to one vendor account, so that each channel has its own. */
  readonly channelId: string
  readonly containers: readonly ContainerSession[]
}

/**
 * Claims sessions for a request; a repeated claim returns the same result. Returns the ids of the
 * containers whose session another request pays.
 */
export async function claimSessions(
  sql: Sql,
  { requestId, channelId, containers }: SessionClaim,
): Promise<ReadonlySet<string>> {
  const known = new Map(containers.filter(({ id }) => ID.test(id)).map((one) => [one.id, one]))
  const candidates = [...known.values()].slice(0, CONTAINERS_MAX)
  if (candidates.length === 0) return NONE
  const claimed = new Set(await insertSessions(sql, requestId, channelId, candidates))
  return new Set(candidates.map(({ id }) => id).filter((id) => !claimed.has(id)))
}

const NONE: ReadonlySet<string> = new Set()

export interface SessionClaims {
  /**
   * Claims as `claimSessions`, retried until the database responds, and settles by the outcome.
   * Resolves as `settle` does.
   */
  add<T>(claim: SessionClaim, settle: (paid: ReadonlySet<string>) => Promise<T>): Promise<T>
  flushed(): Promise<void>
  size(): number
}

export function createSessionClaims(options: {
  readonly sql: Sql
  readonly isUnavailable: (error: unknown) => boolean
  readonly log: SettlementLog
}): SessionClaims {
  const { sql, isUnavailable, log } = options
  const running = new Set<Promise<unknown>>()

  async function claimUntilDone(claim: SessionClaim): Promise<ReadonlySet<string>> {
    for (let waitMs = RETRY_MS_MIN; ; waitMs = Math.min(waitMs * 2, RETRY_MS_MAX)) {
      try {
        return await claimSessions(sql, claim)
      } catch (error) {
        const fields = { request_id: claim.requestId, error }
        if (!isUnavailable(error)) {
          log.error(fields, 'container sessions not claimed: the call pays for all')
          return NONE
        }
        log.warn(fields, 'a claim of container sessions waits for the database')
        await sleep(waitMs)
      }
    }
  }

  return {
    add(claim, settle) {
      const settled = claimUntilDone(claim).then(settle)
      const end = () => running.delete(settled)
      running.add(settled)
      settled.then(end, end)
      return settled
    },
    async flushed() {
      await Promise.allSettled(running)
    },
    size: () => running.size,
  }
}
