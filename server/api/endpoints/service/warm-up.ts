/**
 * Does what a call does before the first one comes: compiles the code of its path, reads and plans
 * its statements, and loads the client for upstreams. Nothing is written, charged or sent away.
 */
import { randomBytes } from 'node:crypto'
import type { Sql } from 'postgres'
import type { Log } from '../../../base/lib/log.ts'
import { openPageRelease } from '../../../base/lib/memory/release-pages.ts'
import { findKeys } from '../../../money/accounts/store.ts'

/** The sessions of a pool that are kept when they are idle. */
const SESSIONS = 2
/** Other threads free what a collection has found; then its pages go back to the system. */
const FREED_MS = 500
/** Over a slow network the start does not wait for all of it. */
const PATIENCE_MS = 1_000

/** Never rejects: what could not be done is done by the first calls. */
export async function warmUp(parts: {
  readonly sql: Sql
  /** Runs the statements of the ledger once. */
  readonly rehearseMoves: () => Promise<void>
  /** Runs the code of calls. */
  readonly rehearseCalls: () => Promise<void>
  /** True once this process has closed its connections: a start that fails says why. */
  readonly isOwnEnd: (error: unknown) => boolean
  readonly log: Log
}): Promise<void> {
  const { sql, rehearseMoves, rehearseCalls, isOwnEnd, log } = parts
  const rehearseStatements = async () => {
    await findKeys(sql, [randomBytes(32)])
    await rehearseMoves()
  }
  const report = (error: unknown) => {
    if (!isOwnEnd(error)) log.info({ error }, 'the first calls may be slower')
  }
  const all = Promise.all(
    [...Array.from({ length: SESSIONS }, rehearseStatements), rehearseCalls()].map((work) =>
      work.catch(report),
    ),
  )
  const late = new Promise((resolve) => void setTimeout(resolve, PATIENCE_MS).unref())
  await Promise.race([all, late])
  // Otherwise the first calls wait 25 ms while the engine copies what the start has made.
  globalThis.gc?.({ type: 'major' })
  setTimeout(openPageRelease(), FREED_MS).unref()
}
