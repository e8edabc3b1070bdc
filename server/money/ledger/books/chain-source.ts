/** The source of a chain of sealed blocks. */
import { DatabaseProblem } from '../../../base/database/problem.ts'
import type { BlockFields, EntryFields } from './canonical.ts'

/** Each call reads from the start. */
export interface ChainSource {
  blocks(): AsyncIterable<BlockFields>
  entries(): AsyncIterable<EntryFields>
}

/** An archived object with entries, as the database states it. */
export interface ArchivedObject {
  readonly storage_key: string
  readonly sha256: Buffer
  readonly content_sha256: Buffer
}

/** Reads the entries of archived objects. */
export type ReadArchived = (objects: readonly ArchivedObject[]) => AsyncIterable<EntryFields>

/** For callers without a storage. */
export const refuseArchived: ReadArchived = async function* (objects) {
  if (objects.length > 0) throw new DatabaseProblem('some entries are archived')
  yield* []
}
