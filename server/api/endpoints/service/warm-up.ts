/**
 * Prepares the process before the first call arrives: compiles the code of its path, parses and
 * plans its statements, and loads the client for upstreams. Nothing is written, charged or sent to
 * a vendor.
 */
import { randomBytes } from 'node:crypto'
import type { Sql } from 'postgres'
import type { Log } from '../../../base/lib/log.ts'
import { openPageRelease } from '../../../base/lib/memory/release-pages.ts'
import { findKeys } from '../../../money/accounts/store.ts'

/** The number of idle sessions that a pool keeps. */
const SESSIONS = 2
/** After a collection, other threads free the memory and return its pages to the system. */
const FREED_MS = 500
/** With a slow network, the start does not wait until all of it is done. */
const PATIENCE_MS = 1_000

/** Never rejects: the first calls do whatever could not be done here. */
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
  // Otherwise the first calls wait 25 ms while the garbage collector copies the objects of the
  // start.
  globalThis.gc?.({ type: 'major' })
  setTimeout(openPageRelease(), FREED_MS).unref()
}
