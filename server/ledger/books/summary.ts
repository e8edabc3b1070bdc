/** Summaries of the sealed books for display. */
import type { Sql } from 'postgres'
import { selectHead } from './seal-store.ts'
import type { Statement } from './statement.ts'
import { selectLastCheckpoint } from './statement-store.ts'

/** Returns the newest checkpoint, or null if there is none. */
export async function readCheckpointSummary(sql: Sql) {
  const row = await selectLastCheckpoint(sql)
  if (!row) return null
  const { block, hash, entries }: Statement = JSON.parse(row.statement)
  return { at: row.created_at.toISOString(), block, hash, entries, key_id: row.key_id }
}

/** Returns the newest block, or null if there is none. */
export async function readSealedSummary(sql: Sql) {
  const head = await selectHead(sql)
  if (!head) return null
  const entries = head.entries_total.toString()
  return { block: Number(head.number), entries, at: head.sealed_at.toISOString() }
}
