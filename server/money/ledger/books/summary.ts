/** Summaries of the sealed books for display. */
import type { Sql } from 'postgres'
import { selectHead } from './seal-store.ts'
import { selectCheckpoints } from './statement-store.ts'
import { compareCheckpoint } from './stored-checkpoint.ts'

/**
 * Returns the newest checkpoint, or null if there is none. `intact` is false if the stored row is
 * not what the gateway signed; `hash` and `entries` are then not shown, since they prove nothing.
 */
export async function readCheckpointSummary(sql: Sql) {
  const [row] = await selectCheckpoints(sql, 1)
  if (!row) return null
  const intact = compareCheckpoint(row) === undefined
  const { hash, entries } = intact ? JSON.parse(row.statement) : { hash: null, entries: null }
  const at = row.created_at
  return { at, block: Number(row.block), hash, entries, key_id: row.key_id, intact }
}

/** Returns the newest block, or null if there is none. */
export async function readSealedSummary(sql: Sql) {
  const head = await selectHead(sql)
  if (!head) return null
  const entries = head.entries_total.toString()
  return { block: Number(head.number), entries, at: head.sealed_at }
}
