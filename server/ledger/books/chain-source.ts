/** The source of a chain of sealed blocks. */
import type { BlockFields, EntryFields } from './canonical.ts'

/** Each call reads from the start. */
export interface ChainSource {
  blocks(): AsyncIterable<BlockFields>
  entries(): AsyncIterable<EntryFields>
}
